// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.process.Executables;
import io.kiln.toolchain.board.Emulation;
import java.util.ArrayList;
import java.util.List;

/**
 * A command line of QEMU; whoever runs QEMU takes it from here. The machine has no network and none of the devices that QEMU adds by
 * itself, reads no configuration of the user's, and has no semihosting unless that is asked for: by semihosting an image opens files
 * and starts programs of this computer.
 *
 * @param qemu which QEMU and which machine
 * @param image file that it boots
 * @param hasConsole whether the first serial port is standard input and output; else there is none
 * @param semihosting whether the image may call this computer
 * @param more further arguments
 */
public record QemuLine(Emulation.Qemu qemu, String image, boolean hasConsole, boolean semihosting, List<String> more) {
    /**
     * Standard input is read whether the serial port is ready or not: the models of some do not say when they become so, and QEMU would
     * wait for ever. The multiplexer does that; no byte is its escape character.
     */
    private static final List<String> CONSOLE =
            List.of("-chardev", "stdio,id=console,mux=on,signal=off", "-serial", "chardev:console", "-echr", "0x100");

    public QemuLine {
        more = List.copyOf(more);
    }

    /** A machine with its console on standard input and output, and nothing else. */
    public static QemuLine of(Emulation.Qemu qemu, String image) {
        return new QemuLine(qemu, image, true, false, List.of());
    }

    /** The same without a console. */
    public QemuLine withoutConsole() {
        return new QemuLine(qemu, image, false, semihosting, more);
    }

    /** The same, and the image may call this computer, or may not. */
    public QemuLine semihosting(boolean isWanted) {
        return new QemuLine(qemu, image, hasConsole, isWanted, more);
    }

    /** The same with further arguments. */
    public QemuLine with(List<String> further) {
        return new QemuLine(qemu, image, hasConsole, semihosting, further);
    }

    /**
     * Program and arguments. The board's own arguments come first, because of two settings of semihosting QEMU takes the last.
     *
     * @throws KilnException if the program is missing, naming the package that has it
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
                .orElseThrow(() -> new KilnException(new Problem(
                        qemu.program() + " is not there",
                        "PATH",
                        "QEMU",
                        "Install it: apt-get install " + Emulator.debianPackage(qemu.program()))))
                .toString();
    }
}
