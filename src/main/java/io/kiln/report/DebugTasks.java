// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.List;

/**
 * A {@code tasks.json} of Visual Studio Code with what a debugger's server is started by.
 *
 * @param version version of the format, 2.0.0
 */
public record DebugTasks(String version, List<Task> tasks) {
    private static final String SAYS = "Kiln: the server waits for the debugger";

    public DebugTasks {
        tasks = List.copyOf(tasks);
    }

    /**
     * A task that goes on while the editor debugs.
     *
     * @param label the name by which a launch configuration asks for it
     * @param type {@code process}
     * @param command the program
     * @param args its arguments
     * @param isBackground whether the editor goes on before it ends
     * @param problemMatcher how the editor knows that it has begun
     */
    public record Task(
            String label,
            String type,
            String command,
            List<String> args,
            boolean isBackground,
            ProblemMatcher problemMatcher) {
        public Task {
            args = List.copyOf(args);
        }

        /**
         * Starts a server that says nothing of its own; the shell says that it begins.
         *
         * @param line the server's command line, quoted for a shell
         */
        public static Task server(String label, String line) {
            Background begun = new Background(true, "^$", SAYS);
            return new Task(
                    label,
                    "process",
                    "sh",
                    List.of("-c", "echo '" + SAYS + "'; exec " + line),
                    true,
                    new ProblemMatcher(new Pattern("^(kiln-none):(.*)$", 1, 2), begun));
        }
    }

    /** Recognises the server's start. The editor requires a pattern of messages, too, which matches nothing here. */
    public record ProblemMatcher(Pattern pattern, Background background) {}

    /** A message with the groups of a file's name and its text. */
    public record Pattern(String regexp, int file, int message) {}

    /** The patterns of output with which the task becomes busy, and ready. */
    public record Background(boolean activeOnStart, String beginsPattern, String endsPattern) {}
}
