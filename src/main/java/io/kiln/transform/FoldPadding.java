// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Conv2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Pad;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.Window;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lets convolutions pad for themselves where an operator before them pads rows and columns with what their own padding stands for:
 * zero, or the data's zero point. A padding that nobody reads any more is removed later.
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

    /** Whether it adds rows and columns of an image, and nothing else. */
    private static boolean isBorder(Pad pad) {
        return pad.before().size() == 4
                && pad.before().get(0) + pad.after().get(0) == 0
                && pad.before().get(3) + pad.after().get(3) == 0;
    }

    /** The convolution that does the padding itself. */
    private static Optional<Binding> padded(Binding conv, Map<Integer, Binding> paddings) {
        if (conv.args().isEmpty() || !(conv.args().get(0) instanceof Arg.Ref ref) || !paddings.containsKey(ref.id())) {
            return Optional.empty();
        }
        Binding padding = paddings.get(ref.id());
        Pad pad = (Pad) padding.op();
        return withPadding(conv, pad, padding.args().get(1)).map(op -> {
            List<Arg> args = new ArrayList<>(conv.args());
            args.set(0, padding.args().get(0));
            return new Binding(conv.id(), op, args, conv.type(), conv.origin());
        });
    }

    private static Optional<Op> withPadding(Binding conv, Pad pad, Arg value) {
        if (!(value instanceof Constant border) || border.type().dtype().isFloat() != conv.op() instanceof Conv2d) {
            return Optional.empty();
        }
        if (conv.op() instanceof Conv2d real && border.real(0) == 0) {
            return window(real.window(), pad)
                    .map(w -> new Conv2d(w, real.groups(), real.channels(), real.kernelLayout()));
        }
        if (conv.op() instanceof QnnConv2d quantized
                && conv.args().get(2) instanceof Constant zero
                && border.integer(0) == zero.integer(0)) {
            return window(quantized.window(), pad)
                    .map(w -> new QnnConv2d(w, quantized.groups(), quantized.channels(), quantized.kernelLayout()));
        }
        return Optional.empty();
    }

    /** The window with more padding; empty where windows would lie in the padding alone, which no schedule expects. */
    private static Optional<Window> window(Window w, Pad pad) {
        Window wider = new Window(
                w.kernelH(),
                w.kernelW(),
                w.strideH(),
                w.strideW(),
                w.dilationH(),
                w.dilationW(),
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
