// The glue of `kiln report`: unpacks the data and the libraries, and hands each view of views.json to
// Vega-Embed. What a view shows is said there; nothing is measured or estimated here.
// SPDX-License-Identifier: Apache-2.0
"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const state = byId("state");
  const started = performance.now();

  // --- Unpack ---------------------------------------------------------------------------------------

  const unpack = async (element) => {
    const bytes = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  };
  const load = async (id) => {
    const script = document.createElement("script");
    script.textContent = await unpack(byId(id));
    document.head.append(script);
  };

  // --- Words and colours ------------------------------------------------------------------------------

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const kLight = { ink: "#1d2329", soft: "#59636e", grid: "#e3e7eb", paper: "#ffffff", accent: "#c2570c", bad: "#c0182f", fast: "#0b4a9e", slow: "#c6d7ec", on_fast: "#ffffff", on_slow: "#1d2329" };
  const kDark = { ink: "#e4e8ec", soft: "#9aa5b1", grid: "#2a323b", paper: "#12161b", accent: "#ffa657", bad: "#ff7b72", fast: "#9ccbff", slow: "#29415c", on_fast: "#12161b", on_slow: "#e4e8ec" };
  const colors = () => (dark.matches ? kDark : kLight);
  const kCategory = ["#4a86d8", "#d9822b", "#3fa66b", "#a06cd5", "#c9534f", "#2a9fb5", "#b5932a", "#7a8794", "#d667a5", "#6f9a37"];
  const ink = { expr: "ink" };
  const config = {
    background: "transparent",
    font: getComputedStyle(document.body).fontFamily,
    view: { stroke: null },
    range: { category: kCategory },
    mark: { color: kCategory[0], tooltip: null },
    text: { color: ink, fontSize: 11.5 },
    axis: {
      labelColor: ink, titleColor: ink, gridColor: { expr: "grid" }, domainColor: { expr: "soft" },
      tickColor: { expr: "soft" }, gridOpacity: 0.7, titleFontWeight: 500, labelFontSize: 11, titleFontSize: 12,
    },
    legend: { labelColor: ink, titleColor: ink, orient: "top", titleFontWeight: 500, labelLimit: 220 },
    header: { labelColor: ink, titleColor: ink },
    title: { color: ink },
  };
  const kUnits = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const unitFor = (ns) => kUnits.find((unit) => ns >= unit[1]) || kUnits[3];
  const kFew = 1500; // marks up to which a plot is drawn as SVG: sharp in print, readable to screen readers
  const kRoofTrials = 300;
  const kPageWidth = 640; // of a plot on A4, in CSS pixels
  const kLines = 500; // lines of the parallel coordinates at most

  // Fills "$word" with a value and "${word}" with its text.
  const fill = (spec, words) => {
    if (typeof spec === "string") {
      const whole = /^\$(\w+)$/.exec(spec);
      if (whole) return whole[1] in words ? words[whole[1]] : spec;
      return spec.replace(/\$\{(\w+)\}/g, (text, word) => (word in words ? words[word] : text));
    }
    if (Array.isArray(spec)) return spec.map((each) => fill(each, words));
    if (spec && typeof spec === "object") {
      return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, fill(value, words)]));
    }
    return spec;
  };

  // Three digits and a unit, as people write a time; `field` is an expression in nanoseconds.
  const timeText = (field) => ["s", "ms", "us"].reduceRight((rest, unit, i) => {
    const scale = 10 ** (9 - 3 * i);
    return `${field} >= ${0.9995 * scale} ? format(${field} / ${scale}, '.3~r') + ' ${unit}' : ${rest}`;
  }, `format(${field}, '.3~r') + ' ns'`);
  // A logarithmic axis leaves labels of crowded ticks empty.
  const kTimeLabel = `datum.label ? (${timeText("datum.value")}) : ''`;

  // A scale as Vega-Lite has it. A logarithmic one has no zero to speak of: naming it draws a warning.
  const linearOrLog = (log, scale) => (log ? { type: "log", ...scale } : { type: "linear", zero: false, ...scale });

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // --- From stored columns to rows ----------------------------------------------------------------------

  const least = (values) => values.reduce((a, b) => (b > 0 && b < a ? b : a), Infinity);

  const prepare = (session) => {
    if (session.ready) return session;
    const { rows } = session;
    const finals = new Map(session.finals.filter((each) => each.trial > 0).map((each) => [each.trial, each.name]));
    let device = 0;
    session.list = rows.trial.map((trial, i) => {
      device += (rows.verify_ns[i] + rows.measure_ns[i]) / 1e9;
      const outcome = session.outcomes[rows.outcome[i]];
      const row = {
        trial, outcome, ok: outcome === "ok", variant: session.variants[rows.variant[i]],
        time: outcome === "ok" ? rows.time_ns[i] : null, seconds: device, final: finals.get(trial) ?? null,
      };
      session.tunables.forEach((tunable, t) => {
        const value = rows.values[t][i];
        if (value >= 0) row[`t${t}`] = tunable.values[value];
      });
      return row;
    });
    session.ready = true;
    return session;
  };

  // What a pointer over a mark shows. A mark of a trial hands over its whole row: naming every tunable in the
  // view would cost a text for each of its marks.
  const trialTooltip = (datum, session) => {
    session.byTrial ??= new Map(session.list.map((row) => [row.trial, row]));
    const row = { ...session.byTrial.get(datum.trial), ...datum };
    const shown = { trial: row.trial, variant: row.variant };
    if (row.role && row.role !== "trial") shown.role = row.role;
    if (row.outcome && row.outcome !== "ok") shown.outcome = row.outcome;
    if (row.time) shown.time = pretty(row.time);
    if (row.rate) shown["operations per second"] = row.rate.toPrecision(4);
    session.tunables.forEach((tunable, t) => {
      if (row[`t${t}`] !== undefined) shown[tunable.name] = row[`t${t}`];
    });
    return shown;
  };
  const tooltipFor = (subject) => (value, sanitize) => {
    const shown = subject.list && "trial" in value && "variant" in value ? trialTooltip(value, subject) : value;
    const rows = Object.entries(shown).filter((each) => each[1] !== null && each[1] !== undefined)
      .map(([name, text]) => `<tr><td class="key">${sanitize(name)}</td><td class="value">${sanitize(text)}</td></tr>`);
    return `<table>${rows.join("")}</table>`;
  };
  // The tunables of which the variant (of the session, without one) has tried more than one value.
  const varies = (session, variant = "") => {
    session.varying ??= new Map();
    if (!session.varying.has(variant)) {
      const rows = variant ? session.list.filter((row) => row.variant === variant) : session.list;
      session.varying.set(variant, session.tunables.map((tunable, t) => ({ ...tunable, key: `t${t}` })).filter(({ key }) => {
        const first = rows.find((row) => row[key] !== undefined);
        return first && rows.some((row) => row[key] !== undefined && row[key] !== first[key]);
      }));
    }
    return session.varying.get(variant);
  };

  // The lines of the roofline: each memory ceiling up to the highest peak, each peak from where memory allows it.
  const roofLines = (ceilings, points, unitWords) => {
    const intensities = points.map((each) => each.intensity).filter((each) => each > 0);
    const memory = ceilings.filter((each) => each.kind === "memory");
    const peaks = ceilings.filter((each) => each.kind === "compute");
    const most = Math.max(...peaks.map((each) => each.per_s), 0);
    const reach = Math.max(...memory.map((each) => each.per_s), 0);
    const ridge = most && reach ? [most / reach] : [];
    const from = Math.min(...intensities, ...ridge) / 4;
    const to = Math.max(...intensities, ...ridge) * 4;
    const lines = [];
    for (const { name, per_s: rate } of memory) {
      const end = most ? Math.min(to, most / rate) : to;
      lines.push({ name, kind: "memory", intensity: from, rate: rate * from, label: name });
      lines.push({ name, kind: "memory", intensity: end, rate: rate * end });
    }
    for (const { name, per_s: rate } of peaks) {
      const begin = reach ? Math.max(from, rate / reach) : from;
      lines.push({ name, kind: "compute", intensity: begin, rate, label: name });
      lines.push({ name, kind: "compute", intensity: to, rate });
    }
    return { lines, range: [from, to], note: ceilings.length ? unitWords : "The database knows no ceilings of this device." };
  };
  const kRoofNote = "Lines: ceilings of the device.";
  const pretty = (ns, digits = 4) => {
    const [unit, scale] = unitFor(ns);
    return `${Number((ns / scale).toPrecision(digits))} ${unit}`;
  };
  // The times that a ramp of colours spans, and its legend: the ends and the middle in words.
  const ramp = (rows) => {
    const times = rows.map((row) => row.time);
    const [from, to] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), 0)];
    return { from, to, legend: { gradientLength: 220, values: [...new Set([from, Math.sqrt(from * to), to])], labelExpr: timeText("datum.value") } };
  };

  // What each view gets: its rows by the name that "data" has in views.json, and the words to fill in.
  const kParts = [
    ["preparing", "#7a8794"], ["verify", "#4a86d8"], ["measure", "#3fa66b"], ["other work", "#2a9fb5"],
    ["no binary ready", "#c9534f"], ["waits for the supervisor", "#b5932a"],
    ["compile", "#a06cd5"], ["ask the strategy", "#d9822b"], ["render", "#6f9a37"], ["store", "#d667a5"],
    ["tell the strategy", "#8c6d46"], ["idle", "#b8c0c8"],
  ];
  const dots = ({ trial, ok, time, seconds, variant, final }) => ({ trial, ok, time, seconds, variant, final });
  const sources = {
    // Without one that was ok there is nothing to place on an axis of times.
    trials: (session) => {
      const ok = session.list.filter((row) => row.ok);
      const count = (rows, variant) => rows.filter((row) => row.variant === variant).length;
      const failed = session.list.filter((row) => !row.ok);
      const names = session.variants.map((variant) => {
        const bad = count(failed, variant);
        return [variant, `${variant} (${count(ok, variant) + bad}${bad ? `, ${bad} failed` : ""})`];
      });
      return {
        rows: ok.length ? session.list.map(dots) : [],
        values: { row_names: Object.fromEntries(names) },
        words: { variant_domain: names.map(([variant]) => variant), last: Math.max(0, ...session.list.slice(-1000).filter((row) => row.ok).map((row) => row.trial)) },
      };
    },
    // One tunable alone has no map.
    cells: (session, choice) => {
      const places = new Map();
      for (const row of varies(session).length < 2 ? [] : session.list) {
        const [across, up] = [row[choice.across], row[choice.up]];
        if (!row.ok || across === undefined || up === undefined) continue;
        const key = JSON.stringify([across, up]);
        if (!places.has(key)) places.set(key, { across, up, times: [] });
        places.get(key).times.push(row.time);
      }
      const rows = [...places.values()].map(({ across, up, times }) => {
        times.sort((a, b) => a - b);
        const half = times.length / 2;
        const median = (times[Math.ceil(half) - 1] + times[Math.floor(half)]) / 2;
        const time = choice.op === "median" ? median : times[0];
        return { across, up, time, text: pretty(time, 3), trials: times.length };
      });
      const { from, to, legend } = ramp(rows);
      for (const row of rows) {
        row.best = row.time === from;
        row.dark = row.time * row.time < from * to;  // nearer to the fastest, on a logarithmic scale
      }
      return { rows, words: { ramp_legend: legend } };
    },
    failures: (session) => {
      const most = Math.max(0, ...session.failures.map((each) => each.count));
      const step = Math.max(1, Math.ceil(most / 5));
      const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
      return { rows: session.failures.map((each, row) => ({ ...each, row })), words: { count_ticks: ticks } };
    },
    spread: (session, choice) => {
      const shown = new Set(varies(session, choice.variant).map((each) => each.name));
      const rows = session.spread.filter((each) => each.variant === choice.variant && shown.has(each.tunable));
      return {
        rows: rows.map((each, order) => ({
          tunable: each.tunable, value: String(each.value), trials: each.trials, order,
          fastest: each.fastest_ns, q1: each.q1_ns, median: each.median_ns, q3: each.q3_ns,
          fastest_text: pretty(each.fastest_ns), median_text: pretty(each.median_ns),
        })),
      };
    },
    importance: (session, choice) => {
      const rows = session.importance.filter((each) => each.variant === choice.variant);
      return { rows, words: { importance_trials: rows.length ? rows[0].trials : "too few" } };
    },
    levels: (session, choice) => {
      const axes = varies(session, choice.variant);
      const all = session.list.filter((row) => row.ok && row.variant === choice.variant).sort((a, b) => a.time - b.time);
      const chosen = all.slice(0, kLines);
      const place = new Map(axes.map((axis) => {
        const used = new Set(all.map((row) => row[axis.key]).filter((value) => value !== undefined));
        return [axis.key, axis.values.filter((value) => used.has(value))];
      }));
      const level = (key, value) => {
        const values = place.get(key);
        return values.length > 1 ? values.indexOf(value) / (values.length - 1) : 0.5;
      };
      const rows = chosen.flatMap((row) => axes.filter((axis) => row[axis.key] !== undefined).map((axis) => ({
        trial: row.trial, time: row.time, axis: axis.key, level: level(axis.key, row[axis.key]),
        place: `${axis.key}:${place.get(axis.key).indexOf(row[axis.key])}`,
      })));
      const keep = [""];
      const labels = ["any"];
      const ticks = [];
      for (const axis of axes) {
        place.get(axis.key).forEach((value, i) => {
          keep.push(`${axis.key}:${i}`);
          labels.push(`${axis.name}=${value}`);
          ticks.push({ axis: axis.key, value: String(value), level: level(axis.key, value) });
        });
      }
      return {
        rows, extra: { axes: ticks }, values: { axis_names: Object.fromEntries(axes.map((axis) => [axis.key, axis.name])) },
        words: {
          keep, keep_labels: labels, any: "", ramp_legend: ramp(rows).legend,
          parallel_note: all.length > kLines ? `the fastest ${kLines} of ${all.length}` : `all ${all.length} that were ok`,
        },
        axes: axes.length,
      };
    },
    roof: (session) => {
      const { best, ceilings } = session;
      // Without a roof it is a column of marks: the rates say the same as bars.
      if (!best || !(best.bytes > 0) || !(best.flops > 0) || !ceilings.length) return { rows: [] };
      const intensity = best.flops / best.bytes;
      const point = (ns, more) => ({ intensity, rate: best.flops / (ns * 1e-9), ...more });
      const rows = session.list.filter((row) => row.ok).sort((a, b) => a.time - b.time).slice(0, kRoofTrials)
        .map((row) => point(row.time, { ...dots(row), role: "trial" }));
      for (const [role, ns] of [["best", best.time_ns], ["default", best.default_time_ns], ["naive", best.naive_time_ns]]) {
        if (ns > 0) rows.push(point(ns, { role, time: ns, variant: role === "best" ? best.config : "" }));
      }
      const { lines, range, note } = roofLines(session.ceilings, rows, kRoofNote);
      return { rows, extra: { ceilings: lines }, words: { roof_x: range, roof_note: `Small marks: the fastest trials. ${note}` } };
    },
    rates: (session) => {
      const { best } = session;
      if (!best) return { rows: [] };
      const isArithmetic = best.flops > 4 * best.bytes;
      const [work, unit, kind] = isArithmetic ? [best.flops, "FLOP/s", "compute"] : [best.bytes, "B/s", "memory"];
      const rows = [];
      for (const [name, ns] of [["best", best.time_ns], ["default", best.default_time_ns], ["naive", best.naive_time_ns]]) {
        if (ns > 0 && work > 0) rows.push({ name, kind: "config", rate: work / (ns * 1e-9) });
      }
      const known = rows.length ? session.ceilings.filter((each) => each.kind === kind) : [];
      for (const each of known) rows.push({ name: each.name, kind: "ceiling", rate: each.per_s });
      return {
        rows,
        words: { rate_unit: unit, rate_what: isArithmetic ? "operations" : "bytes", roof_note: known.length ? "" : "The database knows no ceilings of this device." },
      };
    },
    time_use: (session) => {
      const use = session.time_use;
      if (!use || !(use.search_s > 0)) return { rows: [] };
      const rows = [];
      const add = (who, whole, parts) => {
        let rest = whole;
        for (const [part, seconds] of parts) {
          rest -= seconds;
          rows.push({ who, part, seconds: Math.max(seconds, 0), share: Math.max(seconds, 0) / whole });
        }
        rows.push({ who, part: "idle", seconds: Math.max(rest, 0), share: Math.max(rest, 0) / whole });
      };
      add("device", use.search_s, [
        ["preparing", use.prepare_s], ["verify", use.verify_s], ["measure", use.measure_s],
        ["other work", Math.max(use.device_s - use.verify_s - use.measure_s, 0)],
        ["no binary ready", use.device_no_binary_s], ["waits for the supervisor", use.device_supervisor_s],
      ]);
      const workers = Math.max(use.compile_workers, 1);
      add(`${workers} compile worker${workers > 1 ? "s" : ""}`, use.search_s * workers, [["compile", use.compile_s]]);
      add("supervisor", use.search_s, [
        ["ask the strategy", use.ask_s], ["render", use.render_s], ["store", use.store_s], ["tell the strategy", use.tell_s],
      ]);
      rows.forEach((row, order) => { row.order = order; });
      return {
        rows: rows.filter((row) => row.seconds > 0),
        words: {
          search_s: `${use.search_s.toFixed(2)} s`, parts: kParts.map((each) => each[0]), part_colors: kParts.map((each) => each[1]),
        },
      };
    },
    finals: (session) => {
      // A naive variant that takes much longer would leave the others one point.
      const most = 1.5 * Math.max(...session.finals.filter((each) => each.name !== "naive").map((each) => each.time_ns));
      const shown = session.finals.filter((each) => each.name !== "naive" || each.time_ns < most);
      const left = session.finals.filter((each) => !shown.includes(each));
      const rows = shown.map((each, row) => ({
        row, name: each.name, config: each.config, trial: each.trial > 0 ? each.trial : null, time: each.time_ns,
        low: each.low_ns ?? each.time_ns, high: each.high_ns ?? each.time_ns, text: pretty(each.time_ns, 3),
        interval: each.low_ns ? `${pretty(each.low_ns)} to ${pretty(each.high_ns)}` : null,
      })).filter((each) => each.time > 0);
      const [from, to] = [Math.min(...rows.map((each) => each.low)), Math.max(...rows.map((each) => each.high))];
      const names = rows.map((each) => [each.row, each.trial ? `${each.name} (trial ${each.trial})` : each.name]);
      const margin = 0.05 * (to - from || to);
      return {
        rows, values: { row_names: Object.fromEntries(names) },
        words: {
          verdict: session.verdict, finals_note: left.length ? ` Not drawn: naive, ${pretty(left[0].time_ns)}.` : "",
          finals_domain: [from - margin, to + 6 * margin],
        },
      };
    },
    sessions: (report) => ({
      values: { row_names: Object.fromEntries(report.sessions.filter((each) => each.best).map((each, row) => [row, each.label])) },
      rows: report.sessions.filter((each) => each.best).map((each, row) => ({
        row, id: each.id, label: each.label, name: each.name, kernel: each.kernel, verdict: each.verdict, driver: each.driver, config: each.best.config,
        time_ns: each.best.time_ns, default_time_ns: each.best.default_time_ns, naive_time_ns: each.best.naive_time_ns,
      })),
    }),
    roof_sessions: (report) => {
      const rows = report.sessions.filter((each) => each.best && each.best.bytes > 0 && each.best.flops > 0 && each.best.time_ns > 0)
        .map((each) => ({
          id: each.id, name: each.name, kernel: each.kernel, intensity: each.best.flops / each.best.bytes,
          rate: each.best.flops / (each.best.time_ns * 1e-9),
        }));
      if (!rows.length || !report.ceilings.length) return { rows: [] };
      const { lines, range, note } = roofLines(report.ceilings, rows, kRoofNote);
      return { rows, extra: { ceilings: lines }, words: { roof_x: range, roof_note: note } };
    },
    pairs: (report) => ({
      rows: report.pairs.map((each, row) => ({ ...each, row, low: each.low ?? each.ratio, high: each.high ?? each.ratio })),
      values: { row_names: Object.fromEntries(report.pairs.map((each, row) => [row, each.name])) },
      words: {
        side_a: report.sides[0], side_b: report.sides[1],
        pair_scale: linearOrLog(report.pairs.some((each) => each.ratio > 4 || each.ratio < 0.25), {
          nice: false, padding: 10, domainMax: 1.3 * Math.max(1, ...report.pairs.map((each) => each.high ?? each.ratio)),
        }),
      },
    }),
    common: (report, choice) => {
      const pair = report.pairs[Number(choice.pair) || 0];
      if (!pair || !pair.common.length) return { rows: [] };
      const session = report.sessions[pair.a];
      const rows = pair.common.map((each) => ({
        config: each.config, variant: each.config.split(":")[0], a: each.a_ns, b: each.b_ns,
        a_text: pretty(each.a_ns), b_text: pretty(each.b_ns),
      }));
      const ends = rows.flatMap((row) => [row.a, row.b]);
      const diagonal = [Math.min(...ends), Math.max(...ends)].map((end) => ({ a: end, b: end }));
      return {
        rows, extra: { diagonal },
        words: { side_a: report.sides[0], side_b: report.sides[1], common_note: `${rows.length} of ${session.kernel}` },
      };
    },
  };

  // --- Controls -------------------------------------------------------------------------------------------

  const optionsOf = (options, subject) => {
    if (Array.isArray(options)) return options;
    if (options === "variants") {
      const ok = new Map();
      for (const row of subject.list) if (row.ok) ok.set(row.variant, (ok.get(row.variant) || 0) + 1);
      return [...ok].sort((a, b) => b[1] - a[1]).map(([name, count]) => [name, `${name} (${count} ok)`]);
    }
    if (options === "important") return [...new Set(subject.importance.map((each) => each.variant))].map((name) => [name, name]);
    if (options === "tunables") return varies(subject).map((each) => [each.key, each.name]);
    if (options === "pair_names") return subject.pairs.map((each, i) => [String(i), each.name]);
    return [];
  };

  // --- One figure ---------------------------------------------------------------------------------------------

  const views = [];
  let errors = 0;
  const countMarks = (group) => group.items.reduce((sum, item) => {
    if (!item.items) return sum + (group.role === "mark" ? 1 : 0);
    return sum + item.items.reduce((inner, child) => inner + (child.items ? countMarks(child) : 0), 0);
  }, 0);

  class Figure {
    constructor(name, view, subject) {
      Object.assign(this, { name, view, subject, choice: {}, result: null, printed: null });
      this.caption = element("div", { className: "caption" });
      this.plot = element("div", { className: "plot" });
      this.plot.dataset.view = name;
      this.paper = element("div");
      this.root = element("figure", { className: view.wide ? "wide" : "", id: `view-${name}` },
        element("figcaption", {}, element("h3", { textContent: view.title }), this.caption), this.controls(), this.plot, ...(view.facet ? [element("div", { className: "paper" }, this.paper)] : []));
    }

    controls() {
      const box = element("div", { className: "controls" });
      (this.view.controls || []).forEach((control) => {
        const options = optionsOf(control.options, this.subject);
        if (!options.length) return;
        const several = this.view.controls.filter((each) => each.options === control.options).indexOf(control);
        const first = options[Math.min(several, options.length - 1)][0];
        this.choice[control.name] = this.chosenFirst(control, first);
        const select = element("select", {}, ...options.map(([value, label]) => element("option", { value, textContent: label })));
        select.value = this.choice[control.name];
        select.addEventListener("change", () => { this.choice[control.name] = select.value; this.draw(); });
        if (options.length > 1) box.append(element("label", {}, `${control.label} `, select));
      });
      return box;
    }

    // The heat map begins with the two tunables that explain most, of those that occur in one trial.
    chosenFirst(control, otherwise) {
      if (control.options !== "tunables") return otherwise;
      const { importance, list, tunables } = this.subject;
      const ranked = importance.map((each) => `t${tunables.findIndex((t) => t.name === each.tunable)}`);
      const keys = varies(this.subject).map((each) => each.key);
      const [first, ...others] = [...new Set([...ranked, ...keys])].filter((key) => keys.includes(key));
      if (control.name === "across") return first;
      return others.find((key) => list.some((row) => row.ok && row[first] !== undefined && row[key] !== undefined)) || others[0] || first;
    }

    words(source, width) {
      const { choice, subject } = this;
      const names = Math.round(Math.min(420, Math.max(86, 0.36 * width)));
      const words = { variant: choice.variant || "", time_label: kTimeLabel, names, ...choice, ...source.words };
      // Room for the text at the end of the longest bar.
      const ended = (most, text) => most * (width - names) / Math.max(width - names - text, 60);
      if (this.name === "importance") words.share_end = ended(Math.max(...source.rows.map((row) => row.share), 0.01), 115);
      if (this.name === "rate") words.rate_end = ended(Math.max(...source.rows.map((row) => row.rate)), 80);
      const axis = { trial: "trial", seconds: "time on the device, verify and measure (s)" };
      if (choice.x) words.x_title = axis[choice.x];
      if (choice.times) {
        const most = Math.max(4 * least(subject.rows.time_ns), 1.2 * (subject.best ? subject.best.default_time_ns : 0));
        const beyond = choice.times === "near" ? subject.list.filter((row) => row.ok && row.time > most).length : 0;
        words.y_max = beyond > 0 ? most : undefined;
        words.y_note = beyond > 0 ? ` Slower than ${pretty(most)}: ${beyond} trials, drawn at the upper edge.` : "";
      }
      if (choice.against) {
        const gains = source.rows.map((row) => row[`${choice.against}_time_ns`] / row.time_ns).filter((gain) => gain > 0);
        const domainMin = Math.min(...gains, 1) * 0.97;
        const isLog = Math.max(...gains, 1) > 8;
        const domainMax = isLog ? 2 * Math.max(...gains) : ended(Math.max(...gains, 1), 130);
        words.speed_scale = linearOrLog(isLog, { nice: false, domainMin, domainMax, padding: 4 });
        words.against_field = `${choice.against}_time_ns`;
        words.against = choice.against === "default" ? "the default config" : "the naive variant";
        words.order_sort = choice.order === "id" ? null : { field: "speedup", op: "max", order: "descending" };
      }
      if (this.name === "spread") {
        const most = Math.max(width < 300 ? 1 : 2, Math.floor((width - 50) / 190));
        const count = new Set(source.rows.map((row) => row.tunable)).size;
        words.columns = Math.ceil(count / Math.ceil(count / most));  // rows of about one length
        words.cell = Math.max(90, Math.floor((width - 50) / words.columns) - 13);
        words.bar = 11;
        words.angle = -40;
      }
      if (this.name === "parallel") {
        words.wide = Math.max(width, 64 * source.axes);
        words.cell = (words.wide - 40) / Math.max(source.axes, 1) - 8;
        words.angle = words.cell < 82 ? -30 : 0;
      }
      if (this.name === "heat") {
        const labels = subject.tunables[Number(choice.across.slice(1))].values.map(String);
        words.angle = Math.max(...labels.map((each) => each.length)) * labels.length * 8 > width - 80 ? -40 : 0;
        for (const side of ["across", "up"]) {
          const tunable = subject.tunables[Number(choice[side].slice(1))];
          words[`${side}_title`] = tunable.name;
          words[`${side}_values`] = side === "up" ? [...tunable.values].reverse() : tunable.values;
        }
      }
      words.legend_columns = Math.max(1, Math.floor(width / 170));
      return words;
    }

    // Whether it has anything to show.
    look() {
      this.source = sources[this.view.data](this.subject, this.choice);
      this.root.hidden = this.source.rows.length === 0;
      this.plot.dataset.rows = this.source.rows.length;
      return !this.root.hidden;
    }

    async draw() {
      if (!this.look()) return;
      this.finalize();
      this.result = await this.drawInto(this.plot, this.plot.clientWidth || 600, colors());
      // Small plots in columns cannot be fitted to a printed page at once: they are there twice.
      if (this.view.facet) this.printed = await this.drawInto(this.paper, kPageWidth, kLight);
    }

    finalize() {
      for (const each of [this.result, this.printed]) if (each) each.finalize();
      this.result = this.printed = null;
    }

    async drawInto(plot, width, palette) {
      const { source } = this;
      const words = this.words(source, width);
      this.caption.textContent = fill(this.view.caption, words);
      const spec = fill(this.view.spec, words);
      spec.params = [...Object.entries({ ...palette, ...source.values }).map(([name, value]) => ({ name, value })), ...(spec.params || [])];
      spec.data = { values: source.rows };
      spec.datasets = source.extra;
      if (spec.layer) spec.layer = spec.layer.filter((layer) => !(source.extra?.[layer.data?.name]?.length === 0));
      // Nothing reads the description of a mark on a canvas, and each costs a text.
      const renderer = source.rows.length > kFew ? "canvas" : "svg";
      const legend = { ...config.legend, columns: Math.max(1, Math.floor(width / 115)) };
      if (width < 600) legend.layout = { top: { direction: "vertical", anchor: "start", margin: 4 } };
      spec.config = { ...config, legend, aria: renderer === "svg" };
      spec.description = `${this.view.title}. ${this.caption.textContent}`;
      if (!this.view.facet) {
        spec.width = words.wide || "container";
        const { step, by } = this.view;
        const places = by ? new Set(source.rows.map((row) => row[by])).size : source.rows.length;
        // Beside another figure it is about as high.
        const atLeast = width > 450 ? this.view.least || 0 : 0;
        spec.height = step ? Math.max(step * places, atLeast) : this.view.height;
        spec.autosize = { type: "fit-x", contains: "padding" };
      }
      try {
        const result = await vegaEmbed(plot, spec, {
          mode: "vega-lite", renderer, ast: false, logLevel: 1,
          actions: plot === this.plot && { export: true, source: false, compiled: false, editor: false }, downloadFileName: `kiln-${this.name}`,
          tooltip: { theme: "custom", formatTooltip: tooltipFor(this.subject) },
        });
        plot.dataset.marks = countMarks(result.view.scenegraph().root);
        return result;
      } catch (error) {
        errors += 1;
        plot.textContent = `This plot could not be drawn: ${error.message}`;
        console.error(`${this.name}: ${error.message}`);
        return null;
      }
    }

    // In the width of a page and back, at once: printing does not wait.
    fit(width) {
      if (!this.result || this.view.facet) return;
      this.shown ??= this.result.view.width();
      this.result.view.width(width || this.shown).run();
      if (!width) this.shown = undefined;
    }

    recolor(palette) {
      if (!this.result) return;
      for (const [name, value] of Object.entries(palette)) this.result.view.signal(name, value);
      this.result.view.run();
    }
  }

  // --- The page ---------------------------------------------------------------------------------------------------

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const text = button.previousElementSibling;
      getSelection().selectAllChildren(text);
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        document.execCommand("copy");
      }
      button.textContent = "Copied";
    });
  }
  if (!byId("kiln-data")) return;
  state.textContent = "Drawing the plots.";
  const report = JSON.parse(await unpack(byId("kiln-data")));
  const all = JSON.parse(await unpack(byId("kiln-views")));
  for (const library of ["kiln-vega", "kiln-vega-lite", "kiln-vega-embed"]) await load(library);

  const rest = () => new Promise((done) => { setTimeout(done, 0); });
  const drawGroup = async (box, scope, subject) => {
    box.replaceChildren();
    const figures = [];
    for (const [name, view] of Object.entries(all)) {
      if (view.scope !== scope) continue;
      // One of the two is about the problem: operations where it has any, else bytes.
      if (name === "rate" && sources.roof(subject).rows.length > 0) continue;
      const figure = new Figure(name, view, subject);
      box.append(figure.root);
      figures.push(figure);
    }
    for (const old of views.filter((each) => each.subject === subject || (each.subject.list && subject.list))) {
      old.finalize();
      views.splice(views.indexOf(old), 1);
    }
    views.push(...figures);
    // Two narrow ones share a row: the last of an odd number gets it alone.
    const narrow = figures.filter((figure) => figure.look() && !figure.view.wide);
    if (narrow.length % 2) narrow.at(-1).root.classList.add("wide");
    for (const figure of figures) {
      await figure.draw();
      await rest();
    }
  };

  const plots = byId("plots");
  const withRows = report.sessions.filter((each) => each.rows && each.rows.trial.length > 0);
  const add = (heading) => {
    const box = element("div", { className: "group" });
    plots.append(element("h2", { textContent: heading }), box);
    return box;
  };
  if (report.pairs.length > 0) await drawGroup(add("Side by side"), "pair", report);
  if (report.sessions.length > 1) await drawGroup(add("All sessions"), "sweep", report);
  if (withRows.length > 0) {
    const heading = element("h2");
    const controls = element("div", { className: "controls" });
    const box = element("div", { className: "group" });
    const show = async (session) => {
      heading.textContent = report.sessions.length > 1 ? `Session ${session.label}` : "The session";
      await drawGroup(box, "session", prepare(session));
    };
    plots.append(heading, controls, box);
    if (withRows.length > 1) {
      const select = element("select", { id: "session" },
        ...withRows.map((each, i) => element("option", { value: i, textContent: each.label })));
      select.addEventListener("change", () => show(withRows[Number(select.value)]));
      controls.append(element("label", {}, "Session ", select));
    }
    const most = withRows.reduce((a, b) => (b.rows.trial.length > a.rows.trial.length ? b : a));
    if (withRows.length > 1) controls.querySelector("select").value = withRows.indexOf(most);
    await show(most);
  }

  dark.addEventListener("change", () => views.forEach((each) => each.recolor(colors())));
  const closed = () => [...document.querySelectorAll("main details:not([open])")].filter((each) => !each.closest(".plot"));
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = closed();
    for (const each of opened) each.open = true;
    views.forEach((each) => { each.recolor(kLight); each.fit(kPageWidth); });
  });
  window.addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
    views.forEach((each) => { each.recolor(colors()); each.fit(); });
  });
  let width = plots.clientWidth;
  let timer = 0;
  window.addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (plots.clientWidth === width) return;
      width = plots.clientWidth;
      views.filter((each) => each.view.facet || each.name === "parallel").forEach((each) => each.draw());
    }, 200);
  });
  state.textContent = errors ? `${errors} plots could not be drawn: see the console.` : "";
  document.body.dataset.ready = Math.round(performance.now() - started);
})().catch((error) => {
  document.getElementById("state").textContent = `The plots could not be drawn: ${error.message}`;
  console.error(error);
});
