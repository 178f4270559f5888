// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.SharedWeights;
import io.kiln.schedule.parts.CrossedProducts;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Kernel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A dense layer, or a convolution whose window is the whole input, as one call of {@link SharedDenseKernel}, with a
 * small table of the layer's parameters.
 * There is no scratch.
 */
final class SharedDense {
    private static final int BLOCK = SharedDenseKernel.BLOCK;

    private final ConvComputation conv;
    private final SharedWeights rows;
    private final Kernel kernel;
    private final Buffer weights;
    private final Buffer layer;
    private final Buffer input;
    private final Buffer output;

    /** Packs weights. */
    SharedDense(ConvTask task, SharedDenseRequantize rescale) {
        Tables tables = task.tables();
        this.conv = task.conv();
        this.rows = SharedWeights.ofRow(conv, BLOCK);
        boolean isSummed = rows.fit() && rescale.holds(mostProducts());
        this.kernel = new SharedDenseKernel(isSummed).kernel();
        this.weights = tables.add("weight", DType.INT32, packWeights(rescale, isSummed));
        this.layer = tables.add("layer", DType.INT32, layer(rescale));
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
    }

    private long mostProducts() {
        return rows.taps().stream()
                .mapToLong(taps -> Math.abs((long) CrossedProducts.of(taps)))
                .max()
                .orElse(0);
    }

    private int[] packWeights(SharedDenseRequantize rescale, boolean isSummed) {
        return rows.pack(
                List.of(),
                (channel, second) -> List.of(rescale.bias(channel)
                        - (isSummed ? excess(CrossedProducts.of(rows.taps().get(second)), channel == second) : 0)),
                isSummed);
    }

    /**
     * By how much the kernel's sum, scaled by 2, is too large because the second channel's sum has its products of weights, too.
     *
     * @param isSecond otherwise the first channel, whose sum is a difference from the second's, divided by 128 and rounded down
     */
    private static int excess(int products, boolean isSecond) {
        return isSecond ? 2 * products : -products >> 7;
    }

    private int[] layer(SharedDenseRequantize rescale) {
        List<Integer> computed = rows.blocks().stream()
                .flatMap(first -> IntStream.range(first, first + BLOCK).boxed())
                .toList();
        List<Integer> words = new ArrayList<>(List.of(conv.taps() - SharedWeights.STEP, conv.channels()));
        words.addAll(rescale.words(computed));
        return words.stream().mapToInt(Integer::intValue).toArray();
    }

    /** The loops. */
    LayerLoops loops(Rows lines) {
        int batches = conv.output().dim(0);
        BlockBuilder body = new BlockBuilder();
        body.loop(
                "n",
                batches,
                (batch, n) ->
                        batch.loop("y", lines.firstLine(conv.output()), lines.endLine(conv.output()), 1, (row, y) -> {
                            Buffer x = row.view("x", input, mul(n, conv.taps()));
                            Buffer out = row.mutableView("out", output, mul(n, conv.channels()));
                            row.call(kernel, List.of(x, weights, layer, out), List.of());
                        }));
        long filled = rows.taps().get(0).length;
        return new LayerLoops(body.build(), (long) batches * rows.blocks().size() * BLOCK * filled);
    }
}
