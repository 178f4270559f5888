// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.Value.Padding;
import io.kiln.ir.op.Window;
import java.util.List;
import java.util.stream.Stream;

/** Windows from Relay's attributes. */
final class Windows {

    private Windows() {}

    /**
     * The window, with a border's rows and columns added to its own padding.
     *
     * @param isNchw whether the border's dimensions are NCHW
     * @param ownPadding the value of the window's own padding
     */
    static Window padded(Window w, Padding border, boolean isNchw, double ownPadding) {
        List<Integer> rows = border.widths().get(isNchw ? 2 : 1);
        List<Integer> columns = border.widths().get(isNchw ? 3 : 2);
        List<Integer> batch = border.widths().get(0);
        List<Integer> channels = border.widths().get(isNchw ? 1 : 3);
        if (Stream.of(batch, channels).flatMap(List::stream).anyMatch(width -> width > 0)) {
            throw new IllegalArgumentException("nn.pad before it pads batch or channels: expected height and width");
        }
        if (border.value() != ownPadding) {
            throw new IllegalArgumentException("nn.pad before it adds " + border.value() + ", its own padding "
                    + ownPadding + "; both must be the same");
        }
        return Window.of(w.kernelH(), w.kernelW())
                .strided(w.strideH(), w.strideW())
                .dilated(w.dilationH(), w.dilationW())
                .padded(
                        w.padTop() + rows.get(0),
                        w.padLeft() + columns.get(0),
                        w.padBottom() + rows.get(1),
                        w.padRight() + columns.get(1));
    }
}
