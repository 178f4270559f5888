// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.toolchain.board.Board.OpenOcd;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One device to flash: how its board is reached, and through which probe.
 *
 * @param board what the board's description says
 * @param scripts folders to look for scripts in before OpenOCD's own
 * @param probe the probe
 */
public record FlashTarget(OpenOcd board, List<Path> scripts, Probe probe) {
    private static final String TRANSPORT = "transport";

    public FlashTarget {
        scripts = List.copyOf(scripts);
    }

    /** The scripts of OpenOCD that are needed. */
    public List<String> neededScripts() {
        return isRemote() ? List.of(board.targetConfig()) : List.of(board.interfaceConfig(), board.targetConfig());
    }

    private boolean isRemote() {
        return probe instanceof Probe.Remote;
    }

    /** The arguments that set OpenOCD up, up to and without {@code init}; servers are off unless a port for gdb is given. */
    public List<String> arguments(String gdbPort) {
        List<String> arguments = new ArrayList<>();
        scripts.forEach(folder -> arguments.addAll(List.of("-s", folder.toString())));
        if (!isRemote()) {
            command(arguments, "source " + find(board.interfaceConfig()));
        }
        probe.commands().forEach(each -> command(arguments, each));
        if (!isRemote()) {
            // A remote server speaks JTAG only, and OpenOCD chooses that by itself.
            board.transport().ifPresent(name -> command(arguments, Tcl.command(TRANSPORT, "select", name)));
        }
        command(arguments, "source " + find(board.targetConfig()));
        if (!isRemote() && board.speedKilohertz() > 0) {
            command(arguments, Tcl.command("adapter", "speed", String.valueOf(board.speedKilohertz())));
        }
        command(arguments, Tcl.command("gdb_port", gdbPort));
        command(arguments, "telnet_port disabled");
        command(arguments, "tcl_port disabled");
        return arguments;
    }

    private static String find(String script) {
        return "[find " + Tcl.word(script) + "]";
    }

    static void command(List<String> arguments, String command) {
        arguments.add("-c");
        arguments.add(command);
    }
}
