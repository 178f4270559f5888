// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.TflLookup;
import io.kiln.ir.op.element.TflLookup16;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Operators that compute each element from the elements at its place: all operands in the order of one of them. */
final class MovedElements {
    private MovedElements() {}

    /** The result in the order of its operands; empty if they have several. */
    static Optional<View> of(Binding binding, Rewriter rewriter) {
        int rank = binding.type().shape().rank();
        Optional<Permutation> order = binding.args().stream()
                .map(rewriter::view)
                .map(View::order)
                .filter(o -> !o.isIdentity() && o.rank() == rank)
                .findFirst();
        if (order.isEmpty() || !isElementwise(binding, rewriter)) {
            return Optional.empty();
        }
        List<Arg> args = new ArrayList<>();
        for (int i = 0; i < binding.args().size(); i++) {
            boolean isOperand = i < binding.op().operands();
            Optional<Arg> arg = isOperand
                    ? aligned(binding.args().get(i), order.orElseThrow(), rewriter, binding)
                    : Optional.of(binding.args().get(i));
            if (arg.isEmpty()) {
                return Optional.empty();
            }
            args.add(arg.orElseThrow());
        }
        return Optional.of(new View(rewriter.emit(binding.op(), args, binding.origin()), order.orElseThrow()));
    }

    /** Whether it is of an element-wise kind, and its other arguments are the same for all elements. */
    private static boolean isElementwise(Binding binding, Rewriter rewriter) {
        boolean isTable = binding.op() instanceof TflLookup || binding.op() instanceof TflLookup16;
        boolean isUniform = binding.args().stream()
                .skip(binding.op().operands())
                .allMatch(arg -> arg instanceof Constant && rewriter.shape(arg).elements() == 1);
        return isTable || (binding.op().has(Trait.ELEMENTWISE) && isUniform);
    }

    /** An operand in the order of the data; without a transpose, or as a constant. */
    private static Optional<Arg> aligned(Arg arg, Permutation order, Rewriter rewriter, Binding binding) {
        View view = rewriter.view(arg);
        if (view.order().equals(order)) {
            return Optional.of(view.base());
        }
        Shape shape = rewriter.shape(view.base());
        if (!view.order().isIdentity() || shape.rank() > order.rank()) {
            return Optional.empty();
        }
        if (shape.elements() == 1 && shape.rank() == 0) {
            return Optional.of(view.base());
        }
        List<Integer> dims = new ArrayList<>(Collections.nCopies(order.rank() - shape.rank(), 1));
        dims.addAll(shape.dims());
        Shape whole = new Shape(dims);
        Permutation back = order.inverse();
        if (!(view.base() instanceof Constant) && !back.keepsOrder(whole)) {
            return Optional.empty();
        }
        Arg widened = whole.equals(shape)
                ? view.base()
                : rewriter.emit(new Reshape(whole), List.of(view.base()), binding.origin());
        return Optional.of(rewriter.ordered(widened, back, binding.origin()));
    }
}
