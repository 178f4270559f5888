// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
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
}
