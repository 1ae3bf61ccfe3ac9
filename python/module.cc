// The module mmadiff._core: the C interface (sim/c/mmadiff.h) on arrays of words. The package makes these of arrays of
// numbers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/c/mmadiff.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// Unsigned integers, [count][rows][columns]; those of results are written.
using Array = nb::ndarray<nb::ro, nb::ndim<3>, nb::device::cpu>;
using Result = nb::ndarray<nb::ndim<3>, nb::device::cpu>;

[[noreturn]] void ThrowError() {
  if (mmadiff_error_status() == MMADIFF_NO_MEMORY) {
    PyErr_SetString(PyExc_MemoryError, mmadiff_error());
    throw nb::python_error();
  }
  throw nb::value_error(mmadiff_error());
}

// Python handles signals in this thread alone.
unsigned long MainThread() {
  static const auto main = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return main;
}

// Lets Ctrl-C end a call of the main thread. The call has released the GIL. (Another thread must
// not take it while the interpreter ends.)
class Interruption {
 public:
  bool Asked() {
    const auto now = std::chrono::steady_clock::now();
    if (!is_main_ || now < next_) return false;
    next_ = now + std::chrono::milliseconds(50);
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }

 private:
  const bool is_main_ = PyThread_get_thread_ident() == MainThread();
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

int AskInterruption(void* context) { return static_cast<Interruption*>(context)->Asked(); }

// Calls call(work) without the GIL.
template <class Call>
auto Unlocked(int threads, const Call& call) {
  Interruption interruption;
  const mmadiff_work work = {threads, &AskInterruption, &interruption};
  const nb::gil_scoped_release release;
  return call(&work);
}

void Check(mmadiff_status status) {
  if (status == MMADIFF_STOPPED) throw nb::python_error();  // that of the signal
  if (status != MMADIFF_OK) ThrowError();
}

template <class Of>
mmadiff_words WordsOf(const Of& array, int64_t count, int64_t rows, int64_t columns,
                      const char* name) {
  const auto shape = [&](size_t i) { return static_cast<int64_t>(array.shape(i)); };
  if (shape(0) != count || shape(1) != rows || shape(2) != columns) {
    throw nb::value_error((std::string("the words of ") + name + " have another shape").c_str());
  }
  if (array.dtype().code != static_cast<uint8_t>(nb::dlpack::dtype_code::UInt) ||
      array.dtype().lanes != 1) {
    throw nb::type_error((std::string(name) + " must be an array of words").c_str());
  }
  return {const_cast<void*>(static_cast<const void*>(array.data())), array.dtype().bits,
          array.stride(0), array.stride(1), array.stride(2)};
}

int64_t Size(const Array& array, size_t axis) { return static_cast<int64_t>(array.shape(axis)); }

mmadiff_scales ScalesOf(const std::optional<Array>& words, int64_t count, bool is_b,
                        const char* name) {
  if (!words) return {};
  const int64_t rows = Size(*words, 1), columns = Size(*words, 2);
  return {WordsOf(*words, count, rows, columns, name), is_b ? columns : rows,
          is_b ? rows : columns};
}

struct Product {
  Array a, b;
  std::optional<Array> c, bias, block_scale_a, block_scale_b, scale_a, scale_b;
  std::string a_format, b_format;
  uint64_t alpha = 0, beta = 0;
};

mmadiff_product ProductOf(const Product& p, const Result* d) {
  mmadiff_product product = {};
  const int64_t count = Size(p.a, 0), m = Size(p.a, 1), k = Size(p.a, 2), n = Size(p.b, 2);
  product.count = count, product.m = m, product.n = n, product.k = k;
  product.a = WordsOf(p.a, count, m, k, "a");
  product.b = WordsOf(p.b, count, k, n, "b");
  if (p.c) product.c = WordsOf(*p.c, count, m, n, "c");
  if (p.bias) product.bias = WordsOf(*p.bias, count, 1, n, "bias");
  if (d != nullptr) product.d = WordsOf(*d, count, m, n, "d");
  product.block_scale_a = ScalesOf(p.block_scale_a, count, false, "block_scale_a");
  product.block_scale_b = ScalesOf(p.block_scale_b, count, true, "block_scale_b");
  product.scale_a = ScalesOf(p.scale_a, count, false, "scale_a");
  product.scale_b = ScalesOf(p.scale_b, count, true, "scale_b");
  product.a_format = p.a_format.empty() ? nullptr : p.a_format.c_str();
  product.b_format = p.b_format.empty() ? nullptr : p.b_format.c_str();
  product.alpha = p.alpha, product.beta = p.beta;
  return product;
}

class Row {
 public:
  explicit Row(const std::string& name) : Row(mmadiff_row_open(name.c_str())) {}
  // For a conversion.
  Row(const std::string& from, const std::string& to, bool saturate)
      : Row(mmadiff_conversion_open(from.c_str(), to.c_str(), saturate)) {}
  explicit Row(mmadiff_row* row) : row_(row, mmadiff_row_close) {
    if (row_ == nullptr) ThrowError();
    mmadiff_row_describe(row_.get(), &info_, sizeof(info_));
  }
  const mmadiff_row_info& info() const { return info_; }

  // a [count][m][k], b [count][k][n]; scales [count][m][scales] and [count][scales][n].
  void Execute(const Array& a, const std::optional<Array>& b, const std::optional<Array>& c,
               const std::optional<Array>& scale_a, const std::optional<Array>& scale_b,
               const std::optional<Array>& metadata, const Result& d, int threads) const {
    mmadiff_product p = {};
    p.count = Size(a, 0), p.m = Size(a, 1), p.k = Size(a, 2), p.n = b ? Size(*b, 2) : 1;
    p.a = WordsOf(a, p.count, p.m, p.k, "a");
    if (b) p.b = WordsOf(*b, p.count, p.k, p.n, "b");
    if (c) p.c = WordsOf(*c, p.count, p.m, p.n, "c");
    if (scale_a) p.block_scale_a.words = WordsOf(*scale_a, p.count, p.m, info_.scales, "scale_a");
    if (scale_b) p.block_scale_b.words = WordsOf(*scale_b, p.count, info_.scales, p.n, "scale_b");
    p.d = WordsOf(d, p.count, p.m, p.n, "d");
    mmadiff_words words = {};
    if (metadata) words = WordsOf(*metadata, p.count, p.m, info_.groups, "metadata");
    Check(Unlocked(threads, [&](const mmadiff_work* work) {
      return metadata ? mmadiff_row_execute_sparse(row_.get(), &p, &words, work)
                      : mmadiff_row_execute(row_.get(), &p, work);
    }));
  }

  // Writes metadata [count][m][groups] of a [count][m][k].
  void Metadata(const Array& a, const Result& metadata) const {
    mmadiff_product p = {};
    p.count = Size(a, 0), p.m = Size(a, 1), p.k = Size(a, 2);
    p.a = WordsOf(a, p.count, p.m, p.k, "a");
    const mmadiff_words words = WordsOf(metadata, p.count, p.m, info_.groups, "metadata");
    Check(mmadiff_row_metadata(row_.get(), &p, &words));
  }

  // The places within a group of the elements that a metadata word stores.
  std::vector<int32_t> Stored(uint64_t metadata) const {
    std::vector<int32_t> places(info_.groups == 0 ? 1 : info_.k / info_.groups / 2);
    Check(mmadiff_row_stored(row_.get(), metadata, places.data()));
    return places;
  }

 private:
  const std::unique_ptr<mmadiff_row, decltype(&mmadiff_row_close)> row_;
  mmadiff_row_info info_ = {};
};

class Plan {
 public:
  explicit Plan(const std::string& text)
      : plan_(mmadiff_plan_open(text.c_str()), mmadiff_plan_close) {
    if (plan_ == nullptr) ThrowError();
    mmadiff_plan_describe(plan_.get(), &info_, sizeof(info_));
  }
  const mmadiff_plan_info& info() const { return info_; }
  const mmadiff_plan* get() const { return plan_.get(); }

  // The words of elements of one product.
  std::vector<uint64_t> Elements(const Product& product, const std::vector<int64_t>& rows,
                                 const std::vector<int64_t>& columns, int threads) const {
    const mmadiff_product p = ProductOf(product, nullptr);
    if (rows.size() != columns.size()) throw nb::value_error("as many rows as columns");
    std::vector<uint64_t> words(rows.size());
    Check(Unlocked(threads, [&](const mmadiff_work* work) {
      return mmadiff_plan_elements(plan_.get(), &p, rows.size(), rows.data(), columns.data(),
                                   words.data(), work);
    }));
    return words;
  }

  // Rows and columns of at most `count` elements.
  std::pair<std::vector<int64_t>, std::vector<int64_t>> Witnesses(const Product& product,
                                                                  const std::optional<Array>& d,
                                                                  uint64_t seed, bool any_nan,
                                                                  size_t count, int threads) const {
    mmadiff_product p = ProductOf(product, nullptr);
    if (d) p.d = WordsOf(*d, p.count, p.m, p.n, "d");
    count = std::min<size_t>(count, p.m * p.n);
    std::vector<int64_t> rows(count), columns(count);
    const size_t found = Unlocked(threads, [&](const mmadiff_work* work) {
      return mmadiff_plan_witnesses(plan_.get(), &p, seed, any_nan, count, rows.data(),
                                    columns.data(), work);
    });
    Check(mmadiff_error_status());
    rows.resize(found), columns.resize(found);
    return {rows, columns};
  }

  // (ranges, sum, result), where a range is (ks, runs, stage, sum, joined).
  nb::tuple Trace(const Product& product, int64_t row, int64_t column) const {
    const mmadiff_product p = ProductOf(product, nullptr);
    using Runs = std::vector<std::pair<int64_t, int64_t>>;
    std::vector<std::tuple<std::string, Runs, size_t, uint64_t, uint64_t>> ranges;
    uint64_t sum = 0, result = 0;
    const auto add = [](void* to, const mmadiff_range* r) {
      Runs runs;
      for (size_t i = 0; i < r->run_count; ++i)
        runs.emplace_back(r->runs[2 * i], r->runs[2 * i + 1]);
      static_cast<decltype(ranges)*>(to)->emplace_back(r->ks, std::move(runs), r->stage, r->sum,
                                                       r->joined);
    };
    Check(Unlocked(1, [&](const mmadiff_work* work) {
      return mmadiff_plan_trace(plan_.get(), &p, row, column, add, &ranges, &sum, &result, work);
    }));
    return nb::make_tuple(ranges, sum, result);
  }

  void Execute(const Product& product, const Result& d, int threads) const {
    const mmadiff_product p = ProductOf(product, &d);
    Check(Unlocked(threads, [&](const mmadiff_work* work) {
      return mmadiff_plan_execute(plan_.get(), &p, work);
    }));
  }

 private:
  const std::unique_ptr<mmadiff_plan, decltype(&mmadiff_plan_close)> plan_;
  mmadiff_plan_info info_ = {};
};

void Exact(const Product& product, const Result& high, const Result& low, int threads) {
  const mmadiff_product p = ProductOf(product, &high);
  const mmadiff_words rest = WordsOf(low, p.count, p.m, p.n, "low");
  Check(
      Unlocked(threads, [&](const mmadiff_work* work) { return mmadiff_exact(&p, &rest, work); }));
}

// The plans that give D: see mmadiff_found_info.
nb::dict FindPlans(const Product& product, const Array& d, const std::string& d_format,
                   const std::string& sum_format, const std::string& block_scale_format,
                   bool has_alpha, bool has_beta, const std::string& globs, int threads) {
  mmadiff_product p = ProductOf(product, nullptr);
  p.d = WordsOf(d, p.count, p.m, p.n, "d");
  const auto given = [](const std::string& name) { return name.empty() ? nullptr : name.c_str(); };
  const mmadiff_query query = {.globs = globs.c_str(),
                               .d_format = d_format.c_str(),
                               .sum_format = given(sum_format),
                               .block_scale_format = given(block_scale_format),
                               .has_alpha = has_alpha,
                               .has_beta = has_beta};
  const std::unique_ptr<mmadiff_found, decltype(&mmadiff_found_close)> found(
      Unlocked(threads,
               [&](const mmadiff_work* work) { return mmadiff_find_plans(&p, &query, work); }),
      mmadiff_found_close);
  if (found == nullptr) {
    Check(mmadiff_error_status());
  }
  mmadiff_found_info info = {};
  mmadiff_found_describe(found.get(), &info, sizeof(info));
  nb::list plans, unsettled, same, regions;
  for (size_t i = 0; i < info.plans + info.unsettled; ++i) {
    (i < info.plans ? plans : unsettled).append(mmadiff_found_plan(found.get(), i));
    same.append(mmadiff_found_same(found.get(), i));
  }
  for (size_t i = 0; i < info.regions; ++i) {
    const char* elements = "";
    const char* plan = mmadiff_found_region(found.get(), i, &elements);
    regions.append(nb::make_tuple(plan, elements));
  }
  nb::dict result;
  result["plans"] = plans;
  result["unsettled"] = unsettled;
  result["same"] = same;
  result["regions"] = regions;
  result["tried"] = info.tried;
  result["nearest"] = info.nearest;
  result["differing"] = info.differing;
  result["first"] = nb::make_tuple(info.row, info.column);
  result["may_be_chance"] = info.may_be_chance != 0;
  result["deciding"] = nb::make_tuple(info.deciding_elements, info.deciding_plans);
  return result;
}

// See mmadiff_race_info.
nb::dict RacePlans(const Plan& x, const Plan& y) {
  const std::unique_ptr<mmadiff_race, decltype(&mmadiff_race_close)> race(
      Unlocked(
          1, [&](const mmadiff_work* work) { return mmadiff_race_plans(x.get(), y.get(), work); }),
      mmadiff_race_close);
  if (race == nullptr) Check(mmadiff_error_status());
  mmadiff_race_info info = {};
  mmadiff_race_describe(race.get(), &info, sizeof(info));
  nb::list a, b;
  for (int64_t i = 0; info.is_found && i < info.k; ++i) {
    a.append(info.a[i]);
    b.append(info.b[i]);
  }
  nb::dict result;
  result["equal"] = info.equal;
  result["is_found"] = info.is_found != 0;
  result["k"] = info.k;
  result["a"] = a;
  result["b"] = b;
  result["x"] = info.x;
  result["y"] = info.y;
  return result;
}

nb::list RowNames(const std::string& glob) {
  nb::list names;
  mmadiff_row_names(
      glob.c_str(), [](void* to, const char* name) { static_cast<nb::list*>(to)->append(name); },
      &names);
  return names;
}

// Read-only properties, one for each member of a description.
template <class Class, class Value, class Info>
void Member(nb::class_<Class>& to, const char* name, Value Info::*member) {
  to.def_prop_ro(name, [member](const Class& self) {
    if constexpr (std::is_same_v<Value, const char*>) {
      return std::string(self.info().*member);
    } else {
      return static_cast<int>(self.info().*member);
    }
  });
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // daemon threads may have objects at exit
  m.attr("version") = mmadiff_version();
  m.attr("api_version") = mmadiff_api_version();
  m.def("format_bits",
        [](const std::string& format) { return mmadiff_format_bits(format.c_str()); });
  m.def("format_word", [](const std::string& format, double number) {
    return mmadiff_format_word(format.c_str(), number);
  });
  m.def("scale_block", &mmadiff_scale_block);
  m.def("row_names", &RowNames);

  using R = mmadiff_row_info;
  nb::class_<Row> row(m, "Row");
  row.def(nb::init<const std::string&>(), "name"_a);
  row.def(nb::init<const std::string&, const std::string&, bool>(), "source"_a, "target"_a,
          "saturate"_a);
  Member(row, "name", &R::name), Member(row, "a", &R::a), Member(row, "b", &R::b);
  Member(row, "c", &R::c), Member(row, "d", &R::d), Member(row, "scale", &R::scale);
  Member(row, "m", &R::m), Member(row, "n", &R::n), Member(row, "k", &R::k);
  Member(row, "blocks", &R::blocks), Member(row, "scales", &R::scales);
  Member(row, "groups", &R::groups);
  Member(row, "is_native", &R::is_native);
  Member(row, "nan_bits", &R::nan_bits), Member(row, "grade", &R::grade);
  Member(row, "evidence", &R::evidence), Member(row, "algorithm", &R::algorithm);
  row.def("execute", &Row::Execute, "a"_a, "b"_a.none(), "c"_a.none(), "scale_a"_a.none(),
          "scale_b"_a.none(), "metadata"_a.none(), "d"_a, "threads"_a);
  row.def("metadata", &Row::Metadata, "a"_a, "metadata"_a);
  row.def("stored", &Row::Stored, "metadata"_a);

  nb::class_<Product>(m, "Product")
      .def(nb::init<>())
      .def_rw("a", &Product::a)
      .def_rw("b", &Product::b)
      .def_rw("c", &Product::c)
      .def_rw("bias", &Product::bias)
      .def_rw("block_scale_a", &Product::block_scale_a)
      .def_rw("block_scale_b", &Product::block_scale_b)
      .def_rw("scale_a", &Product::scale_a)
      .def_rw("scale_b", &Product::scale_b)
      .def_rw("a_format", &Product::a_format)
      .def_rw("b_format", &Product::b_format)
      .def_rw("alpha", &Product::alpha)
      .def_rw("beta", &Product::beta);

  using P = mmadiff_plan_info;
  nb::class_<Plan> plan(m, "Plan");
  plan.def(nb::init<const std::string&>(), "text"_a);
  Member(plan, "text", &P::text), Member(plan, "row", &P::row), Member(plan, "a", &P::a);
  Member(plan, "b", &P::b), Member(plan, "c", &P::c), Member(plan, "d", &P::d);
  Member(plan, "sum", &P::sum), Member(plan, "scale", &P::scale), Member(plan, "k", &P::k);
  Member(plan, "scales", &P::scales);
  Member(plan, "reads_c", &P::reads_c), Member(plan, "reads_alpha", &P::reads_alpha);
  Member(plan, "reads_beta", &P::reads_beta), Member(plan, "reads_bias", &P::reads_bias);
  Member(plan, "reads_scales", &P::reads_scales);
  Member(plan, "reads_block_scales", &P::reads_block_scales);
  plan.def("execute", &Plan::Execute, "product"_a, "d"_a, "threads"_a);
  plan.def("elements", &Plan::Elements, "product"_a, "rows"_a, "columns"_a, "threads"_a);
  plan.def("witnesses", &Plan::Witnesses, "product"_a, "d"_a.none(), "seed"_a, "any_nan"_a,
           "count"_a, "threads"_a);
  plan.def("trace", &Plan::Trace, "product"_a, "row"_a, "column"_a);

  m.def("exact", &Exact, "product"_a, "high"_a, "low"_a, "threads"_a);
  m.def("find_plans", &FindPlans, "product"_a, "d"_a, "d_format"_a, "sum_format"_a,
        "block_scale_format"_a, "has_alpha"_a, "has_beta"_a, "globs"_a, "threads"_a);
  m.def("race_plans", &RacePlans, "x"_a, "y"_a);
}
