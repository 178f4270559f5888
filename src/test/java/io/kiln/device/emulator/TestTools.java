// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.process.TestPrograms;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;

/** Real emulators, for tests. Where one is missing a test is skipped with the reason; in CI it fails. */
final class TestTools {
    private TestTools() {}

    static void need(Board board) {
        if (board.emulation() instanceof Emulation.Qemu qemu) {
            TestPrograms.need(qemu.program());
        }
    }
}
