#include "fuzz/page/report_fields.h"

#include "corpus/utc_time.h"
#include "fuzz/output/shared_fields.h"
#include "fuzz/report/run_fields.h"

namespace mmadiff {

Fields<StageLine> FieldsOf(const StageLine*) {
  return {
      {"cells", &StageLine::cells},
      {"differs_first", &StageLine::parts},
  };
}

Fields<ReportFinding> FieldsOf(const ReportFinding*) {
  using F = ReportFinding;
  return {
      Field<F>::Flat([](const F& f) { return f.finding; }),
      {"minimal", &F::minimal,
       Prose("lines of the minimal case; empty if the finding was not explained, such as any "
             "after the first 20 of a run")},
      {"difference", &F::difference, Prose()},
      Field<F>::Flat([](const F& f) {
        return FailureOfCase{f.failure, f.age};
      }),
      {"diagnosis", &F::diagnosis, Prose("diagnosis from the stored answers")},
      {"columns", &F::columns},
      {"stages", &F::stages},
      {"command", &F::command, "shell command that shows the finding"},
  };
}

namespace {

struct CellOfCross {
  const Cross& cross;
  size_t row, column;

  const Cross::Cell& cell() const { return cross.cells[row][column]; }
};

Fields<CellOfCross> FieldsOf(const CellOfCross*) {
  using C = CellOfCross;
  return {
      {"row", [](const C& c) { return c.cross.rows[c.row]; }},
      {"column", [](const C& c) { return c.cross.columns[c.column]; },
       "empty if the group is a list"},
      {"dot_products", [](const C& c) { return c.cell().count; }},
      {"instructions", [](const C& c) { return c.cell().instructions; },
       "instructions that can reach the bin"},
      {"missing", [](const C& c) { return c.cell().missing; },
       "those of `instructions` that reached the bin too rarely"},
      {"unreachable", [](const C& c) { return c.cell().unreachable; },
       Prose("reason why no instruction can reach the bin")},
  };
}

std::vector<CellOfCross> KnownCells(const Cross& cross) {
  std::vector<CellOfCross> cells;
  for (size_t r = 0; r < cross.rows.size(); ++r) {
    for (size_t c = 0; c < cross.columns.size(); ++c) {
      if (cross.cells[r][c].known) cells.push_back({cross, r, c});
    }
  }
  return cells;
}

}  // namespace

Fields<Cross> FieldsOf(const Cross*) { return {{"group", &Cross::group}, {"cells", KnownCells}}; }

Fields<RateSeries::Machine> FieldsOf(const RateSeries::Machine*) {
  using M = RateSeries::Machine;
  return {
      {"machine", &M::name},
      {"dot_products_per_second", &M::rates, "rates in intervals of equal length"},
  };
}

Fields<RateSeries> FieldsOf(const RateSeries*) {
  using R = RateSeries;
  return {
      {"begin", [](const R& r) { return UtcTime(r.begin); },
       UtcOrEmpty("RFC 3339; empty if unknown")},
      {"end", [](const R& r) { return UtcTime(r.end); }, UtcOrEmpty("RFC 3339; empty if unknown")},
      {"series", &R::machines},
  };
}

Fields<ReportMutants::Survivor> FieldsOf(const ReportMutants::Survivor*) {
  using S = ReportMutants::Survivor;
  return {{"instruction", &S::instruction}, {"change", &S::change}};
}

Fields<ReportMutants> FieldsOf(const ReportMutants*) {
  using M = ReportMutants;
  return {
      {"models", &M::models, "number of models that were tried"},
      {"of_models", &M::of_models, "number of models of the run"},
      {"cases", &M::cases},
      {"mutants", &M::mutants},
      {"survivors", &M::survivors},
  };
}

Fields<WordsAtDistance> FieldsOf(const WordsAtDistance*) {
  using W = WordsAtDistance;
  return {{"distance", &W::distance}, {"words", &W::words}};
}

Fields<ReportRun> FieldsOf(const ReportRun*) {
  using R = ReportRun;
  return {
      Field<R>::Flat([](const R& r) -> const RunReport& { return r; }),
      {"findings", &R::explained},
      {"coverage", &R::crosses},
      {"rate", &R::rate},
      {"ulps", &R::ulps},
      {"mutants", &R::mutants},
      {"left_out", [](const R& r) { return r.manifest.left_out; }},
  };
}

Fields<ReportData> FieldsOf(const ReportData*) {
  using D = ReportData;
  return {
      {"runs", &D::runs, {.least_items = 1}},
      {"not_read", &D::not_read,
       Prose("named folders that are not folders of a run, with the reason")},
  };
}

Fields<RowOfRun> FieldsOf(const RowOfRun*) {
  using R = RowOfRun;
  return {
      {"device", [](const R& r) { return r.run.manifest.device; }},
      {"device_identity", [](const R& r) { return Name(r.run.manifest.device_identity); }},
      Field<R>::Flat([](const R& r) { return r.row; }),
  };
}

}  // namespace mmadiff
