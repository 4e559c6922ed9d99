#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"

namespace tidemark::cli {

namespace {

/// Long flags of a command, "--config".
std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::string BashScript(const std::vector<const CLI::App*>& commands) {
  std::string cases;
  for (const CLI::App* command : commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                         fmt::join(FlagsOf(*command), " "));
  }
  return fmt::format(
      "_tidemark() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  case ${{COMP_WORDS[1]}} in\n{}"
      "    *) words=\"{} --help --version\" ;;\n"
      "  esac\n"
      "  if [[ $COMP_CWORD -gt 1 && $current != -* ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _tidemark tidemark\n",
      cases, fmt::join(NamesOf(commands), " "));
}

/// The first line of a description. Between single quotes fish gives a meaning to these two only.
std::string FishQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string FishScript(const std::vector<const CLI::App*>& commands) {
  std::string out;
  for (const CLI::App* command : commands) {
    out += fmt::format("complete -c tidemark -n __fish_use_subcommand -a {} -d {}\n",
                       command->get_name(), FishQuoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        out += fmt::format("complete -c tidemark -n '__fish_seen_subcommand_from {}' -l {} -d {}\n",
                           command->get_name(), name, FishQuoted(option->get_description()));
      }
    }
  }
  return out;
}

/// roff gives '-' and '.' at the start of a line a meaning of their own.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string ManPage(const CLI::App& app, const std::vector<const CLI::App*>& commands) {
  std::string out = ".TH TIDEMARK 1\n.SH NAME\ntidemark \\- is the data in a lake table fresh?\n";
  out += ".SH SYNOPSIS\n.B tidemark\n.I command\n[options]\n.SH DESCRIPTION\n";
  out += Roff(app.get_description()) + "\n.SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    out += fmt::format(".SS {}\n{}.\n", command->get_name(), Roff(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      out += fmt::format(".TP\n.B {}\n{}\n", Roff(option->get_name(true)),
                         Roff(option->get_description()));
    }
  }
  return out;
}

}  // namespace

void AddCompletion(CLI::App& app, Run& chosen) {
  auto kind = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Prints a shell's completion script, or the manual page");
  command->add_option("kind", *kind, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([&app, kind, &chosen] {
    chosen = [&app, kind] {
      const CLI::App& root = app;
      const auto commands = root.get_subcommands({});
      if (*kind == "bash") return Print(BashScript(commands));
      if (*kind == "zsh") {
        return Print("#compdef tidemark\nautoload -U +X bashcompinit && bashcompinit\n" +
                     BashScript(commands));
      }
      if (*kind == "fish") return Print(FishScript(commands));
      return Print(ManPage(root, commands));
    };
  });
}

}  // namespace tidemark::cli
