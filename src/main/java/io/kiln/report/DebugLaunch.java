// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A {@code launch.json} of Visual Studio Code for its extension Cortex-Debug.
 *
 * @param version version of the format, 0.2.0
 * @param configurations the launch configurations
 */
public record DebugLaunch(String version, List<Configuration> configurations) {
    private static final String TYPE = "cortex-debug";
    /** What editors replace by the folder that they have opened. */
    public static final String WORKSPACE = "${workspaceFolder}";

    private static final String ENTRY_POINT = "main";

    public DebugLaunch {
        configurations = List.copyOf(configurations);
    }

    /**
     * A launch configuration. Empty properties are omitted from the file.
     *
     * @param name name shown by the editor
     * @param type the extension's type
     * @param request {@code launch} to load the image first, {@code attach} if it is already loaded
     * @param servertype {@code openocd}, started by the editor, or {@code external}, already running
     * @param configFiles OpenOCD's configuration files
     * @param serverpath path of OpenOCD
     * @param gdbTarget address of an external server
     * @param cwd folder of the sources
     * @param executable the ELF file
     * @param gdbPath the debugger
     * @param debuggerArgs options of the debugger: further source folders
     * @param preLaunchTask the task that starts an external server
     * @param svdFile description of the chip's registers
     * @param runToEntryPoint function to stop at first
     */
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record Configuration(
            String name,
            String type,
            String request,
            String servertype,
            List<String> configFiles,
            String serverpath,
            String gdbTarget,
            String cwd,
            String executable,
            String gdbPath,
            List<String> debuggerArgs,
            String preLaunchTask,
            String svdFile,
            String runToEntryPoint) {
        public Configuration {
            configFiles = List.copyOf(configFiles);
            debuggerArgs = List.copyOf(debuggerArgs);
        }

        /**
         * OpenOCD, started by the editor with one configuration file.
         *
         * @param svd description of the device's peripherals; empty if there is none
         */
        public static Configuration openOcd(
                String name,
                String openOcd,
                String configFile,
                String executable,
                String gdb,
                List<String> sources,
                String svd) {
            return new Configuration(
                    name,
                    TYPE,
                    "launch",
                    "openocd",
                    List.of(configFile),
                    openOcd,
                    "",
                    WORKSPACE,
                    executable,
                    gdb,
                    searching(sources),
                    "",
                    svd,
                    ENTRY_POINT);
        }

        private static List<String> searching(List<String> sources) {
            return sources.stream().flatMap(place -> Stream.of("-d", place)).toList();
        }

        /** A server started by a task of the same name, with the image loaded. */
        public static Configuration external(
                String name, String gdbTarget, String executable, String gdb, List<String> sources) {
            return new Configuration(
                    name,
                    TYPE,
                    "attach",
                    "external",
                    List.of(),
                    "",
                    gdbTarget,
                    WORKSPACE,
                    executable,
                    gdb,
                    searching(sources),
                    name,
                    "",
                    ENTRY_POINT);
        }
    }

    /**
     * A run configuration of CLion that connects its debugger to a server that runs already.
     *
     * @param name shown by the editor
     * @param server address of the server
     * @param image the ELF file
     */
    public record DebugRun(String name, String server, String image) {
        /** What the editor replaces by the folder that it has opened. */
        public static final String PROJECT = "$PROJECT_DIR$";

        /** The content of a {@code .run.xml} file. Names in debug information are relative to the project. */
        public String xml() {
            Map<String, String> attributes = new TreeMap<>(Map.of(
                    "default", "false",
                    "name", name,
                    "type", "CLion_Remote",
                    "version", "1",
                    "remoteCommand", server,
                    "symbolFile", image,
                    "sysroot", ""));
            StringBuilder out =
                    new StringBuilder("<component name=\"ProjectRunConfigurationManager\">\n  <configuration");
            attributes.forEach((key, value) -> out.append(' ')
                    .append(key)
                    .append("=\"")
                    .append(escaped(value))
                    .append('"'));
            return out.append(">\n    <debugger kind=\"GDB\" isBundled=\"true\" />\n")
                    .append("    <pathMapping remote=\".\" local=\"" + PROJECT + "\" />\n")
                    .append("    <method v=\"2\" />\n  </configuration>\n</component>\n")
                    .toString();
        }

        private static String escaped(String text) {
            return text.replace("&", "&amp;")
                    .replace("<", "&lt;")
                    .replace(">", "&gt;")
                    .replace("\"", "&quot;");
        }
    }

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
}
