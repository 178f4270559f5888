// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.flash;

import io.kiln.toolchain.board.Flashing.OpenOcd;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One device to flash: its board and its probe.
 *
 * @param board the board's description
 * @param scripts folders searched for scripts before OpenOCD's own
 */
public record FlashTarget(OpenOcd board, List<Path> scripts, Probe probe) {
    public FlashTarget {
        scripts = List.copyOf(scripts);
    }

    /** The OpenOCD scripts that it needs. */
    public List<String> neededScripts() {
        return isRemote() ? List.of(board.targetConfig()) : List.of(board.interfaceConfig(), board.targetConfig());
    }

    private boolean isRemote() {
        return probe instanceof Probe.Remote || probe instanceof Probe.Virtual;
    }

    /**
     * The commands of a configuration file that sets OpenOCD up for the probe and the chip, without {@code init}, which
     * some boards' scripts call themselves, and without settings for servers.
     *
     * @param folder of the file, from which it finds the board's own scripts
     */
    public List<String> configuration(Path folder) {
        List<String> commands = new ArrayList<>();
        scripts.forEach(each -> commands.add("add_script_search_dir [file dirname [info script]]/"
                + Tcl.word(folder.relativize(each).toString().replace('\\', '/'))));
        commands.addAll(setUp("source [find " + Tcl.word(board.targetConfig()) + "]"));
        return commands;
    }

    private List<String> setUp(String target) {
        List<String> commands = new ArrayList<>();
        if (!isRemote()) {
            commands.add("source [find " + Tcl.word(board.interfaceConfig()) + "]");
        }
        commands.addAll(probe.commands());
        if (!isRemote()) {
            // A remote server supports JTAG only, which OpenOCD selects by itself.
            board.transport().ifPresent(name -> commands.add(Tcl.command("transport", "select", name)));
        }
        commands.add(target);
        if (!isRemote() && board.speedKilohertz() > 0) {
            commands.add(Tcl.command("adapter", "speed", String.valueOf(board.speedKilohertz())));
        }
        return commands;
    }

    /**
     * The arguments that set OpenOCD up with all its servers disabled, and without the commands by which scripts could
     * open ports again. These and the choice of the probe precede the target's script, because some scripts call {@code
     * init}.
     *
     * @param procedures file with Kiln's own procedures, which also disables the servers
     */
    List<String> arguments(String procedures) {
        List<String> arguments = new ArrayList<>();
        scripts.forEach(folder -> arguments.addAll(List.of("-s", folder.toString())));
        command(arguments, Tcl.command("source", procedures));
        setUp(Tcl.command("kiln_source", board.targetConfig())).forEach(each -> command(arguments, each));
        return arguments;
    }

    static void command(List<String> arguments, String command) {
        arguments.add("-c");
        arguments.add(command);
    }
}
