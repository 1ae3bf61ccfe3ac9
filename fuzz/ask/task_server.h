// The child process that queries a device for its parent. The parent survives if the child crashes
// or hangs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/survey_record.h"
#include "fuzz/engine/engine.h"

namespace mmadiff {

using SendReply = std::function<void(const AskReply&)>;

// Opens a device specification; OpenEngine() except in tests.
using OpenSpec = std::function<EngineOr(const std::string& spec)>;

class TaskServer {
 public:
  // `send` is called only during Serve().
  TaskServer(OpenSpec open, SendReply send) : open_(std::move(open)), send_(std::move(send)) {}

  // The first request has a manifest with the device to open. If the manifest has an identity, the
  // device must have the same one. The last reply is an identity, a result, or kNotOpened.
  void Serve(const AskRequest& request);

 private:
  void Identify(const AskRequest& request);
  void Do(const AskRequest& request);
  void SendNotOpened(const absl::Status& s);
  // The engine for the device specification with the variant.
  absl::StatusOr<Engine*> EngineOf(const std::string& variant);
  // Whether the task must end.
  bool IsOver() const;

  const OpenSpec open_;
  const SendReply send_;
  SurveyManifest manifest_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;  // by variant
  std::string hardware_;                                    // as last sent
  double limit_ = 0;                                        // seconds for the request; 0: none
  absl::Duration begun_, alive_;
};

}  // namespace mmadiff
