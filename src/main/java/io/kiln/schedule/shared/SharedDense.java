// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.shared;

import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
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
    SharedDense(ConvTask task, SharedDenseRescale rescale) {
        Tables tables = task.tables();
        this.conv = task.conv();
        this.rows = SharedWeights.ofRow(conv, BLOCK);
        boolean isSummed = rescale.isSummed() && rows.fit();
        this.kernel = new SharedDenseKernel(isSummed).kernel();
        this.weights = tables.add("weight", DType.INT32, rows.pack(List.of(), rescale::bias, isSummed));
        this.layer = tables.add("layer", DType.INT32, layer(rescale));
        this.input = task.buffers().argument(0);
        this.output = task.buffers().output();
    }

    private int[] layer(SharedDenseRescale rescale) {
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
