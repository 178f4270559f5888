// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.movement.Pad;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Moves padding into convolutions if an operator before them pads rows and columns with the value of their own padding:
 * zero, or the data's zero point. Padding without readers is removed later.
 */
public final class FoldPadding implements Pass {
    @Override
    public String name() {
        return "fold-padding";
    }

    @Override
    public Function run(Function function) {
        Map<Integer, Binding> paddings = new HashMap<>();
        List<Binding> bindings = new ArrayList<>();
        for (Binding binding : function.bindings()) {
            if (binding.op() instanceof Pad pad && isBorder(pad)) {
                paddings.put(binding.id(), binding);
            }
            bindings.add(padded(binding, paddings).orElse(binding));
        }
        return function.withBindings(bindings);
    }

    /** Whether it only adds rows and columns of an image. */
    private static boolean isBorder(Pad pad) {
        return pad.before().size() == 4
                && pad.before().get(0) + pad.after().get(0) == 0
                && pad.before().get(3) + pad.after().get(3) == 0;
    }

    /** The convolution with the padding included. */
    private static Optional<Binding> padded(Binding conv, Map<Integer, Binding> paddings) {
        if (conv.args().isEmpty() || !(conv.args().get(0) instanceof Arg.Ref ref) || !paddings.containsKey(ref.id())) {
            return Optional.empty();
        }
        Binding padding = paddings.get(ref.id());
        Pad pad = (Pad) padding.op();
        return withPadding(conv, pad, padding.args().get(1))
                .map(op -> conv.with(op).with(0, padding.args().get(0)));
    }

    private static Optional<Layer> withPadding(Binding conv, Pad pad, Arg value) {
        boolean fits = conv.op() instanceof Layer layer
                && value instanceof Constant border
                && (layer.isQuantized() ? isZeroPoint(border, conv) : isZero(border));
        return fits
                ? window(((Layer) conv.op()).geometry(), pad).flatMap(((Layer) conv.op())::withGeometry)
                : Optional.empty();
    }

    private static boolean isZero(Constant border) {
        return border.type().dtype().isFloat() && border.real(0) == 0;
    }

    private static boolean isZeroPoint(Constant border, Binding conv) {
        return !border.type().dtype().isFloat()
                && conv.args().get(Layer.INPUT_ZERO_POINT) instanceof Constant zero
                && border.integer(0) == zero.integer(0);
    }

    /** The window with more padding; empty if windows would lie entirely in the padding, which no schedule expects. */
    private static Optional<Window> window(Window w, Pad pad) {
        Window wider = Window.of(w.kernelH(), w.kernelW())
                .strided(w.strideH(), w.strideW())
                .dilated(w.dilationH(), w.dilationW())
                .padded(
                        w.padTop() + pad.before().get(1),
                        w.padLeft() + pad.before().get(2),
                        w.padBottom() + pad.after().get(1),
                        w.padRight() + pad.after().get(2));
        boolean ordinary = wider.padTop() < wider.spanH()
                && wider.padBottom() < wider.spanH()
                && wider.padLeft() < wider.spanW()
                && wider.padRight() < wider.spanW();
        return ordinary ? Optional.of(wider) : Optional.empty();
    }
}
