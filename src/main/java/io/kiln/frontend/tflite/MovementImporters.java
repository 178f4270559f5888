// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.frontend.tflite.SupportedOperators.Support;
import io.kiln.ir.op.Transpose;
import java.util.Arrays;
import java.util.Map;

/** Operators that only copy elements, by their codes. */
final class MovementImporters {
    static final Map<Integer, Support> ALL = Map.ofEntries(
            Map.entry(2, new Support(JoinImporters::concatenate, 4)),
            Map.entry(5, new Support(BlockImporters::depthToSpace, 2)),
            Map.entry(26, new Support(BlockImporters::spaceToDepth, 2)),
            Map.entry(34, new Support(PadImporters::pad, 4)),
            Map.entry(37, new Support(BlockImporters::batchToSpace, 4)),
            Map.entry(38, new Support(BlockImporters::spaceToBatch, 4)),
            Map.entry(39, new Support(MovementImporters::transpose, 7)),
            Map.entry(43, new Support(ShapeImporters::squeeze, 2)),
            Map.entry(45, new Support(new StridedSliceImporter(), 8)),
            Map.entry(49, new Support(SliceImporters::split, 4)),
            Map.entry(60, new Support(PadImporters::padV2, 4)),
            Map.entry(65, new Support(SliceImporters::slice, 6)),
            Map.entry(70, new Support(ShapeImporters::expandDims, 1)),
            Map.entry(77, new Support(ShapeImporters::shape, 1)),
            Map.entry(83, new Support(JoinImporters::pack, 4)),
            Map.entry(88, new Support(SliceImporters::unpack, 4)),
            Map.entry(100, new Support(PadImporters::mirrorPad, 3)),
            Map.entry(102, new Support(SliceImporters::splitV, 2)),
            Map.entry(105, new Support(SliceImporters::reverse, 3)),
            Map.entry(130, new Support(ShapeImporters::broadcastTo, 3)),
            Map.entry(145, new Support(ShapeImporters::broadcastArgs, 1)));

    private MovementImporters() {}

    static void transpose(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int rank = data.shape().rank();
        int[] order = ConstantParameters.ints(operator, "the order of dimensions", operator.input(1), rank);
        operator.finish(operator.emit(
                new Transpose(Arrays.stream(order)
                        .map(axis -> axis < 0 ? axis + rank : axis)
                        .boxed()
                        .toList()),
                operator.value(data)));
    }
}
