// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kiln.device.projectapi.ServerInfo.ProjectOption;
import java.util.List;
import java.util.Set;

/** The options of Kiln's Project API server. */
final class ProjectOptions {
    static final String BOARD = "board";
    static final String PROJECT_TYPE = "project_type";
    static final String TOOLCHAIN = "toolchain";
    static final String SERIAL_NUMBER = "serial_number";
    static final String PORT = "port";
    static final String OPENOCD = "openocd";
    static final String WORKSPACE = "workspace_size_bytes";
    static final String VERBOSE = "verbose";
    static final String START = "session_start_timeout_sec";
    static final String ANSWER = "session_established_timeout_sec";
    static final String DEFINITIONS = "compile_definitions";
    static final String WARNINGS = "warning_as_error";
    static final String EXTRA_FILES = "extra_files_tar";

    /** The project's image holds an RPC server. */
    static final String HOST_DRIVEN = "host_driven";

    /** The project's image holds the default application. */
    static final String STANDALONE = "aot_standalone_demo";

    static final String GENERATE = "generate_project";
    static final String BUILD = "build";
    static final String FLASH = "flash";
    static final String OPEN = "open_transport";

    /** Options that are fixed when a project is generated. */
    static final List<String> FIXED = List.of(BOARD, PROJECT_TYPE, TOOLCHAIN, WORKSPACE, DEFINITIONS, WARNINGS);

    private static final JsonNode NONE = NullNode.getInstance();

    private ProjectOptions() {}

    /**
     * All options.
     *
     * @param boards ids of the boards
     */
    static List<ProjectOption> of(List<String> boards) {
        return List.of(
                required(BOARD, boards, "The board, as kiln:boards lists them."),
                required(
                        PROJECT_TYPE,
                        List.of(HOST_DRIVEN, STANDALONE),
                        "host_driven: an image with the RPC server; aot_standalone_demo: with the application that"
                                + " runs whole models."),
                text(
                        TOOLCHAIN,
                        Set.of(GENERATE),
                        NONE,
                        "clang, gnu, host or a descriptor's file; the board's if not given."),
                text(SERIAL_NUMBER, Set.of(FLASH, OPEN), NONE, "The probe, as kiln.probe."),
                text(PORT, Set.of(OPEN), NONE, "The serial port, as kiln.monitor.port."),
                text(OPENOCD, Set.of(FLASH), TextNode.valueOf("openocd"), "Name or path of OpenOCD."),
                option(
                        WORKSPACE,
                        ProjectOption.Type.INT,
                        Set.of(GENERATE),
                        NONE,
                        "Bytes of RAM that must be left for the RPC server."),
                option(
                        START,
                        ProjectOption.Type.INT,
                        Set.of(OPEN),
                        NONE,
                        "Seconds until the server on the board must answer; an emulator's grow as busy as the computer"
                                + " is."),
                option(
                        ANSWER,
                        ProjectOption.Type.INT,
                        Set.of(OPEN),
                        NONE,
                        "Seconds for each of its answers, which grow alike."),
                option(
                        VERBOSE,
                        ProjectOption.Type.BOOL,
                        Set.of(GENERATE, BUILD, FLASH, OPEN),
                        BooleanNode.FALSE,
                        "Whether to print what is done."),
                text("cmsis_path", Set.of(GENERATE), NONE, "Not used: Kiln brings what its images need."),
                option(
                        WARNINGS,
                        ProjectOption.Type.BOOL,
                        Set.of(GENERATE),
                        BooleanNode.FALSE,
                        "Whether the C compiler's warnings are errors."),
                text(DEFINITIONS, Set.of(GENERATE), NONE, "Macros for the C compiler, such as -DA=1 -DB."),
                text(EXTRA_FILES, Set.of(GENERATE), NONE, "A tar that is unpacked into the project."));
    }

    private static ProjectOption required(String name, List<String> choices, String help) {
        return new ProjectOption(name, choices, NONE, ProjectOption.Type.STR, Set.of(GENERATE), Set.of(), help);
    }

    private static ProjectOption text(String name, Set<String> methods, JsonNode standard, String help) {
        return option(name, ProjectOption.Type.STR, methods, standard, help);
    }

    private static ProjectOption option(
            String name, ProjectOption.Type type, Set<String> methods, JsonNode standard, String help) {
        return new ProjectOption(name, List.of(), standard, type, Set.of(), methods, help);
    }
}
