// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.Value.Padding;
import io.kiln.ir.op.Window;
import java.util.List;
import java.util.stream.Stream;

/** Windows from Relay's attributes. */
final class Windows {
    /** Limit that keeps the arithmetic of windows within 32 bits. */
    static final int MAX = (1 << 15) - 1;

    private static final Integer ONE = 1;
    private static final Integer PAIR = 2;
    private static final Integer EDGES = 4;

    private Windows() {}

    /**
     * A window.
     *
     * @param kernel name of the attribute with its size
     * @param otherwise default size; empty if the attribute is required
     */
    static Window of(Attributes a, String kernel, List<Integer> otherwise) {
        List<Integer> size = pair(
                otherwise.isEmpty() ? a.integers(kernel, 1, MAX, PAIR) : a.integers(kernel, 1, MAX, otherwise, PAIR));
        List<Integer> strides = pair(a.integers("strides", 1, MAX, List.of(1, 1), PAIR));
        List<Integer> dilation = pair(a.integers("dilation", 1, MAX, List.of(1, 1), PAIR));
        List<Integer> padding = edges(a.integers("padding", 0, MAX, List.of(0, 0), ONE, PAIR, EDGES));
        return Window.of(size.get(0), size.get(1))
                .strided(strides.get(0), strides.get(1))
                .dilated(dilation.get(0), dilation.get(1))
                .padded(padding.get(0), padding.get(1), padding.get(2), padding.get(3));
    }

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

    /** After an error, which has been reported, any pair will do. */
    private static List<Integer> pair(List<Integer> values) {
        return values.size() == PAIR ? values : List.of(1, 1);
    }

    private static List<Integer> edges(List<Integer> given) {
        if (given.size() == EDGES) {
            return given;
        }
        int vertical = given.isEmpty() ? 0 : given.get(0);
        int horizontal = given.size() == PAIR ? given.get(1) : vertical;
        return List.of(vertical, horizontal, vertical, horizontal);
    }
}
