/// The subcommands. Each registers its flags on a parser and gives what to run when it was chosen.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tidemark::cli {

/// Runs the chosen command and gives the exit code.
using Run = std::function<int()>;

/// What `version` says, without the line's end.
std::string VersionText();

/// Adds the subcommand to `app`; `chosen` is set to its Run when the command line names it.
void AddFreshness(CLI::App& app, Run& chosen);
void AddServe(CLI::App& app, Run& chosen);
void AddTimeline(CLI::App& app, Run& chosen);
void AddChanges(CLI::App& app, Run& chosen);
void AddPublish(CLI::App& app, Run& chosen);
void AddMirror(CLI::App& app, Run& chosen);
void AddCheckpoint(CLI::App& app, Run& chosen);
void AddLog(CLI::App& app, Run& chosen);
void AddRead(CLI::App& app, Run& chosen);
void AddAudit(CLI::App& app, Run& chosen);
void AddReconcile(CLI::App& app, Run& chosen);
void AddRules(CLI::App& app, Run& chosen);
void AddDoctor(CLI::App& app, Run& chosen);
void AddDemo(CLI::App& app, Run& chosen);
void AddVersion(CLI::App& app, Run& chosen);
void AddCompletion(CLI::App& app, Run& chosen);

}  // namespace tidemark::cli
