// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform.layout;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.TflBatchMatmul;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Products of matrices, which can be transposed by an attribute. */
final class MovedProduct {
    private MovedProduct() {}

    /** The product of matrices whose last two dimensions are exchanged. */
    static Optional<View> of(Binding binding, Rewriter rewriter) {
        if (!(binding.op() instanceof TflBatchMatmul product)) {
            return Optional.empty();
        }
        List<Arg> args = new ArrayList<>();
        boolean[] exchanged = new boolean[2];
        for (int i = 0; i < binding.args().size(); i++) {
            Arg arg = binding.args().get(i);
            View view = rewriter.view(arg);
            boolean isMatrix = i < 2 && !(arg instanceof Constant) && isExchange(view.order());
            if (isMatrix) {
                exchanged[i] = true;
            }
            args.add(isMatrix ? view.base() : rewriter.materialize(arg, binding.origin()));
        }
        if (!exchanged[0] && !exchanged[1]) {
            return Optional.empty();
        }
        TflBatchMatmul moved =
                new TflBatchMatmul(product.transposeA() ^ exchanged[0], product.transposeB() ^ exchanged[1]);
        int rank = binding.type().shape().rank();
        return Optional.of(new View(rewriter.emit(moved, args, binding.origin()), Permutation.identity(rank)));
    }

    private static boolean isExchange(Permutation order) {
        List<Integer> axes = new ArrayList<>(Permutation.identity(order.rank()).axes());
        if (axes.size() < 2) {
            return false;
        }
        Collections.swap(axes, axes.size() - 1, axes.size() - 2);
        return order.axes().equals(axes);
    }
}
