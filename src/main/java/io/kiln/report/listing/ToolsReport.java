// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.listing;

import io.kiln.report.Json.OrNull;
import java.util.List;

/**
 * Tools as {@code kiln:doctor} prints them.
 *
 * @param missing programs that the board needs and that are not there
 * @param install the command that installs them, word by word; empty if nothing is missing
 * @param lacks what else the project lacks on this computer
 * @param port what a serial port speaks; null if none was asked
 */
public record ToolsReport(
        String board,
        String toolchain,
        List<Tool> tools,
        List<String> missing,
        List<String> install,
        List<Lack> lacks,

        @OrNull Port port) {
    public ToolsReport {
        tools = List.copyOf(tools);
        missing = List.copyOf(missing);
        install = List.copyOf(install);
        lacks = List.copyOf(lacks);
    }

    /**
     * A tool.
     *
     * @param needed whether the board needs it
     * @param version the first line that it says of itself; {@code missing} if it is not installed
     * @param purpose what for
     */
    public record Tool(String program, boolean needed, String version, String purpose) {}

    /**
     * Something that is no program: a library, a right, a rule.
     *
     * @param what a sentence without its full stop
     * @param remedy what to do, a command where there is one
     */
    public record Lack(String what, String remedy) {}

    /**
     * A serial port.
     *
     * @param verdict what the program there speaks, in words
     */
    public record Port(String name, String verdict) {}

    public ToolsReport with(Port other) {
        return new ToolsReport(board, toolchain, tools, missing, install, lacks, other);
    }
}
