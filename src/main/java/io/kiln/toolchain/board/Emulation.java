// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.board;

import java.util.List;

/** How images run without the hardware. */
public sealed interface Emulation {
    /**
     * QEMU's system emulation.
     *
     * @param program such as {@code qemu-system-arm}
     * @param machine value of {@code -M}
     * @param args further arguments
     * @param fenced whether the image holds untrusted code, which never gets semihosting
     */
    record Qemu(String program, String machine, List<String> args, boolean fenced) implements Emulation {
        public Qemu {
            args = List.copyOf(args);
        }

        /** An emulator of trusted images. */
        public Qemu(String program, String machine, List<String> args) {
            this(program, machine, args, false);
        }
    }

    /**
     * Another board's emulator runs the same objects, relinked for that board.
     *
     * @param board id of a board that has an emulator of its own
     */
    record StandIn(String board) implements Emulation {}

    /** The image is an executable for this computer. */
    record Native() implements Emulation {}

    /** No emulator. */
    record None() implements Emulation {}
}
