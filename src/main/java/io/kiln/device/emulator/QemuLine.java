// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.process.Executables;
import io.kiln.toolchain.board.Emulation;
import java.util.ArrayList;
import java.util.List;

/**
 * A command line of QEMU; the only place that builds one. The machine has no network and none of QEMU's default
 * devices, reads no user configuration, and has semihosting only if asked for, because semihosting lets an image open
 * files and start programs on this computer.
 *
 * @param qemu the QEMU program and machine
 * @param image file to boot
 * @param hasConsole whether the first serial port is standard input and output; otherwise there is none
 * @param semihosting whether the image may use semihosting
 * @param more further arguments
 */
public record QemuLine(Emulation.Qemu qemu, String image, boolean hasConsole, boolean semihosting, List<String> more) {
    /**
     * Arguments for the console. They read standard input whether the serial port is ready or not: some models of UARTs do not
     * report readiness, and QEMU would wait forever. The multiplexer does that; no byte is its escape character.
     */
    private static final List<String> CONSOLE =
            List.of("-chardev", "stdio,id=console,mux=on,signal=off", "-serial", "chardev:console", "-echr", "0x100");

    public QemuLine {
        more = List.copyOf(more);
    }

    /** A machine with its console on standard input and output, and no other devices. */
    public static QemuLine of(Emulation.Qemu qemu, String image) {
        return new QemuLine(qemu, image, true, false, List.of());
    }

    /** A copy without a console. */
    public QemuLine withoutConsole() {
        return new QemuLine(qemu, image, false, semihosting, more);
    }

    /** A copy with or without semihosting. */
    public QemuLine semihosting(boolean isWanted) {
        return new QemuLine(qemu, image, hasConsole, isWanted, more);
    }

    /** A copy with further arguments. */
    public QemuLine with(List<String> further) {
        return new QemuLine(qemu, image, hasConsole, semihosting, further);
    }

    /**
     * Program and arguments. The board's own arguments come first, because the last semihosting setting wins in QEMU.
     *
     * @throws KilnException if the program is missing, with the package that contains it
     */
    public List<String> words() {
        List<String> words =
                new ArrayList<>(List.of(program(), "-M", qemu.machine(), "-nodefaults", "-no-user-config"));
        words.addAll(qemu.args());
        words.addAll(List.of("-kernel", image, "-display", "none", "-monitor", "none", "-nic", "none"));
        words.addAll(hasConsole ? CONSOLE : List.of("-serial", "none"));
        words.addAll(more);
        words.addAll(List.of("-semihosting-config", semihosting ? "enable=on,target=native" : "enable=off"));
        return List.copyOf(words);
    }

    private String program() {
        return Executables.find(qemu.program())
                .orElseThrow(() -> Failure.TOOL.exception(
                        qemu.program() + " is missing",
                        "PATH",
                        "QEMU",
                        "Install it: apt-get install " + Emulator.debianPackage(qemu.program())))
                .toString();
    }
}
