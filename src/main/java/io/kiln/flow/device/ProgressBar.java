// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.device;

import io.kiln.device.flash.FlashProgress;
import java.io.PrintStream;

/** Progress as one terminal line that is overwritten, and removed at the end. */
final class ProgressBar implements FlashProgress {
    private static final int WIDTH = 40;
    private static final String ERASE_LINE = "\r\u001b[K";

    private final PrintStream terminal;
    private final long total;

    /** Shows progress towards a total number of bytes. */
    ProgressBar(PrintStream terminal, long total) {
        this.terminal = terminal;
        this.total = total;
    }

    @Override
    public void erasing() {
        show("erasing");
    }

    @Override
    public void written(long told) {
        long bytes = Math.min(told, total);
        int done = (int) (bytes * WIDTH / total);
        show("[" + "#".repeat(done) + ".".repeat(WIDTH - done) + "] " + bytes * 100 / total + " %  " + bytes + " of "
                + total + " bytes");
        if (bytes >= total) {
            show("");
        }
    }

    @Override
    public void verifying() {
        show("");
    }

    private void show(String text) {
        terminal.print(ERASE_LINE + text);
        terminal.flush();
    }
}
