// SPDX-License-Identifier: Apache-2.0
#include "tests/support/slurm_cluster.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/support/started_program.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array kNodes = {"n1", "n2"};

/// The path of a daemon, which lies where only root looks for programs; empty if there is none.
fs::path daemon_path(const std::string& name) {
  for (const char* folder : {"/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"}) {
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return {};
}

/// Ports of the loopback interface that are free now, all different.
std::vector<int> free_ports(std::size_t count) {
  std::vector<int> sockets;
  std::vector<int> ports;
  while (ports.size() < count) {
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    sockets.push_back(made);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(made, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("no free port on 127.0.0.1");
    ports.push_back(::ntohs(address.sin_port));
  }
  for (const int made : sockets) ::close(made);
  return ports;
}

/// As Slurm knows this host: its name up to the first dot.
std::string short_host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry == nullptr) throw std::runtime_error("the present user has no name");
  return entry->pw_name;
}

}  // namespace

std::string SlurmCluster::missing() {
  if (daemon_path("slurmctld").empty()) return "no slurmctld on this host";
  if (daemon_path("slurmd").empty()) return "no slurmd on this host";
  if (daemon_path("sbatch").empty()) return "no sbatch on this host";
  return "";
}

SlurmCluster::SlurmCluster() {
  std::string name = "/tmp/kiln-slurm-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder in /tmp");
  folder_ = name;
  fs::create_directory(folder_ / "state");
  write_configuration();
  try {
    start();
  } catch (...) {
    stop();
    throw;
  }
}

SlurmCluster::~SlurmCluster() { stop(); }

void SlurmCluster::write_configuration() const {
  const std::vector<int> ports = free_ports(1 + kNodes.size());
  const std::string host = short_host_name();
  const std::string folder = folder_.string();
  std::ofstream file(folder_ / "slurm.conf");
  file << "ClusterName=kiln\n"
       << "SlurmctldHost=" << host << "(127.0.0.1)\n"
       << "SlurmctldPort=" << ports.back() << "\n"
       << "SlurmUser=" << user_name() << "\nSlurmdUser=" << user_name() << "\n"
       << "AuthType=auth/none\nCredType=cred/none\n"                   // no munge
       << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"  // no cgroups
       << "MpiDefault=none\nAccountingStorageType=accounting_storage/none\n"
       << "JobAcctGatherType=jobacct_gather/none\n"
       << "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
       << "SchedulerType=sched/backfill\nSchedulerParameters=bf_interval=1,sched_min_interval=0\n"
       << "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
       << "StateSaveLocation=" << folder << "/state\n"
       << "SlurmdSpoolDir=" << folder << "/spool-%n\n"
       << "SlurmctldPidFile=" << folder << "/controller.pid\nSlurmdPidFile=" << folder
       << "/%n.pid\n";
  for (std::size_t i = 0; i < kNodes.size(); ++i) {
    file << "NodeName=" << kNodes[i] << " NodeHostname=" << host
         << " NodeAddr=127.0.0.1 Port=" << ports[i] << " CPUs=1 State=UNKNOWN\n";
  }
  file << "PartitionName=work Nodes=ALL Default=YES PriorityTier=1\n"
       << "PartitionName=urgent Nodes=ALL PriorityTier=2 PreemptMode=OFF\n";
}

void SlurmCluster::start() {
  const pid_t controller = start_daemon({daemon_path("slurmctld").string(), "-D"}, "controller");
  for (const char* node : kNodes)
    daemons_.push_back(start_daemon({daemon_path("slurmd").string(), "-D", "-N", node}, node));
  daemons_.push_back(controller);
  std::string states;
  for (int i = 0; i < 300; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    try {
      states = run({"sinfo", "--noheader", "--Node", "--partition=work", "--format=%N %T"});
    } catch (const std::runtime_error& error) {
      states = error.what();  // the controller does not answer yet
    }
    if (states == "n1 idle\nn2 idle\n") return;
    for (const pid_t daemon : daemons_) {
      if (::waitpid(daemon, nullptr, WNOHANG) == daemon)
        throw std::runtime_error("a daemon of Slurm ended\n" + logs());
    }
  }
  throw std::runtime_error("the nodes of Slurm did not become idle: " + states + "\n" + logs());
}

void SlurmCluster::stop() {
  if (daemons_.empty()) return;
  try {
    (void)run({"scancel", "--user=" + user_name()});
    for (int i = 0; i < 100 && !run({"squeue", "--noheader"}).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } catch (const std::runtime_error&) {  // a daemon is gone
  }
  for (pid_t& daemon : daemons_) end_program(daemon, SIGTERM);
  daemons_.clear();
  std::error_code error;
  fs::remove_all(folder_, error);
}

// A daemon ends with the process that started it.
pid_t SlurmCluster::start_daemon(const std::vector<std::string>& words,
                                 const std::string& name) const {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "TERM", "env",
                                  "SLURM_CONF=" + configuration()};
  all.insert(all.end(), words.begin(), words.end());
  return start_program(all, folder_ / (name + ".log"));
}

std::string SlurmCluster::run(const std::vector<std::string>& words) const {
  const fs::path output = folder_ / "output";
  std::vector<std::string> all = {"env", "SLURM_CONF=" + configuration()};
  all.insert(all.end(), words.begin(), words.end());
  fs::remove(output);
  const int code = exit_code_of(start_program(all, output));
  std::string text = file_text(output);
  if (code != 0) throw std::runtime_error(words.front() + ": " + text);
  return text;
}

std::string SlurmCluster::logs() const {
  std::string text;
  for (const char* name : {"controller", "n1", "n2"})
    text += std::string("== ") + name + "\n" + file_text(folder_ / (std::string(name) + ".log"));
  return text;
}

}  // namespace kiln::test
