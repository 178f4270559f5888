// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.emulator;

import io.kiln.process.Executables;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Emulation;
import org.junit.jupiter.api.Assumptions;

/** Real emulators, for tests. Where one is missing a test is skipped with the reason; in CI it fails. */
final class TestTools {
    private TestTools() {}

    static void need(Board board) {
        if (board.emulation() instanceof Emulation.Qemu qemu
                && Executables.find(qemu.program()).isEmpty()
                && !"true".equals(System.getenv("CI"))) {
            Assumptions.abort(qemu.program() + " is not installed");
        }
    }
}
