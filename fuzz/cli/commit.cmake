# Writes OUTPUT, which defines kCommit: the commit of SOURCE, with "-dirty" after changes, or "unknown".
set(ENV{GIT_OPTIONAL_LOCKS} 0)
if(EXISTS ${SOURCE}/.git)  # sources without a repository may lie in that of others
  execute_process(COMMAND git describe --always --dirty --abbrev=12 WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(WRITE ${OUTPUT} "namespace mmadiff {\nextern const char kCommit[];\nconst char kCommit[] = \"${commit}\";\n}  // namespace mmadiff\n")
