module dot_go

go 1.19
