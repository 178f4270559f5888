// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.reference.Interpreter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** What is refused of operators that copy elements or reduce dimensions, and how that is said; and shapes that are computed. */
class MovementImportTest {
    private final TfliteModelBuilder model = new TfliteModelBuilder();
    private final int x = model.tensor(TensorSpec.int8("x", 0.5f, 3, 1, 4, 6, 2));

    private int constant(String name, int... values) {
        return model.tensor(TensorSpec.int32(name, values));
    }

    private void refused(int builtin, Options options, int[] in, String... reasons) {
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 3, 1, 4, 6, 2));
        model.operator(builtin, 1, options, in, y).inputs(x).outputs(y);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).isNotNull();
        assertThat(e.getMessage()).contains(reasons).contains("test.tflite: operator #0");
    }

    /** Padding by nothing is no operator: its output is another one. */
    @Test
    void outputsWithOneValueHaveMemoryOfTheirOwn() {
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 3, 1, 4, 6, 2));
        int z = model.tensor(TensorSpec.int8("z", 0.5f, 3, 1, 4, 6, 2));
        Options reflect = Options.table(BuiltinOptions.MirrorPadOptions, Field.int8(0, 0));
        int pairs = model.tensor(TensorSpec.of("pairs", TensorType.INT32, 4, 2).withData(new byte[32]));
        model.operator(BuiltinOperator.RELU, 1, Options.none(), new int[] {x}, y);
        model.operator(BuiltinOperator.MIRROR_PAD, 1, reflect, new int[] {y, pairs}, z);
        List<Result> results = model.inputs(x).outputs(y, z).read().results();
        assertThat(results).extracting(Result::name).containsExactly("y", "z");
        assertThat(results).extracting(Result::id).doesNotHaveDuplicates();
    }

    @Test
    void anOrderThatIsNone() {
        int[] in = {x, constant("order", 0, 1, 1, 3)};
        refused(BuiltinOperator.TRANSPOSE, Options.none(), in, "[0, 1, 1, 3]", "(1, 4, 6, 2)");
    }

    @Test
    void anOrderOfAnotherRank() {
        int[] in = {x, constant("order", 0, 1)};
        refused(BuiltinOperator.TRANSPOSE, Options.none(), in, "the order of dimensions", "a number of elements of 4");
    }

    @Test
    void widthsThatAreNotConstant() {
        int widths = model.tensor(TensorSpec.of("widths", TensorType.INT32, 4, 2));
        int[] in = {x, widths};
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 3, 1, 4, 6, 2));
        model.operator(BuiltinOperator.PAD, 1, Options.none(), in, y)
                .inputs(x, widths)
                .outputs(y);
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e.getMessage()).contains("the widths of padding `widths` is not constant");
    }

    @Test
    void negativeAndHugeWidths() {
        int widths = model.tensor(TensorSpec.of("widths", TensorType.INT32, 4, 2)
                .withData(TensorSpec.int32("w", 0, 0, -1, 0, 0, 0, 0, 0).data().toArray()));
        refused(BuiltinOperator.PAD, Options.none(), new int[] {x, widths}, "[0, 0, -1, 0, 0, 0, 0, 0]", "0 or more");
    }

    @Test
    void aTensorThatWouldNotFitAnyMemory() {
        int widths = model.tensor(TensorSpec.of("widths", TensorType.INT32, 4, 2)
                .withData(TensorSpec.int32("w", 0, 1 << 27, 0, 0, 0, 0, 0, 0)
                        .data()
                        .toArray()));
        refused(BuiltinOperator.PAD, Options.none(), new int[] {x, widths}, "has more than 268435456 bytes");
    }

    @Test
    void slicesOutsideTheData() {
        int[] in = {x, constant("begin", 0, 3, 0, 0), constant("size", 1, 2, 6, 2)};
        refused(BuiltinOperator.SLICE, Options.none(), in, "a slice from 3 of size 2 along dimension 1");
    }

    @Test
    void stridesOfZero() {
        int begin = constant("begin", 0, 0, 0, 0);
        int end = constant("end", 1, 4, 6, 2);
        Options plain = Options.table(BuiltinOptions.StridedSliceOptions, Field.int32(0, 0));
        refused(
                BuiltinOperator.STRIDED_SLICE,
                plain,
                new int[] {x, begin, end, constant("strides", 1, 0, 1, 1)},
                "stride 0 along dimension 1");
    }

    @Test
    void twoEllipses() {
        Options ellipses = Options.table(BuiltinOptions.StridedSliceOptions, Field.int32(2, 3));
        int[] in = {x, constant("begin", 0, 0, 0, 0), constant("end", 1, 4, 6, 2), constant("strides", 1, 1, 1, 1)};
        refused(BuiltinOperator.STRIDED_SLICE, ellipses, in, "ellipsis_mask is 3", "one ellipsis at most");
    }

    @Test
    void moreIndicesThanDimensions() {
        Options added = Options.table(BuiltinOptions.StridedSliceOptions, Field.int32(3, 1));
        int[] in = {
            x,
            constant("begin", 0, 0, 0, 0, 0, 0),
            constant("end", 1, 1, 1, 1, 1, 1),
            constant("strides", 1, 1, 1, 1, 1, 1)
        };
        refused(
                BuiltinOperator.STRIDED_SLICE,
                added,
                in,
                "5 indices and new_axis_mask 1",
                "an index for each of 4 dimensions at most");
    }

    @Test
    void partsThatDoNotFit() {
        int other = model.tensor(TensorSpec.int8("other", 0.5f, 3, 1, 4, 5, 2).withData(new byte[40]));
        Options options = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 1), Field.int8(1, 0));
        refused(BuiltinOperator.CONCATENATION, options, new int[] {x, other}, "differ beside axis 1");
    }

    @Test
    void aFusedActivation() {
        Options options = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 1), Field.int8(1, 1));
        refused(BuiltinOperator.CONCATENATION, options, new int[] {x, x}, "an activation is fused into it");
    }

    @Test
    void axesThatDoNotExist() {
        Options options = Options.table(BuiltinOptions.ReducerOptions, Field.bool(0, true));
        refused(BuiltinOperator.MEAN, options, new int[] {x, constant("axes", 4)}, "axis 4 does not exist", "-4 to 3");
    }

    @Test
    void indicesOutsideTheData() {
        Options options = Options.table(BuiltinOptions.GatherOptions, Field.int32(0, 1), Field.int32(1, 0));
        refused(BuiltinOperator.GATHER, options, new int[] {x, constant("i", 0, 4)}, "index 4", "0 to 3");
    }

    @Test
    void sizesThatAreNone() {
        Options options = Options.table(BuiltinOptions.ResizeBilinearOptions, Field.bool(2, true), Field.bool(3, true));
        refused(
                BuiltinOperator.RESIZE_BILINEAR,
                options,
                new int[] {x, constant("size", 0, 5)},
                "the size is 0, 5",
                "align_corners and half_pixel_centers");
    }

    @Test
    void blocksThatDoNotDivide() {
        Options options = Options.table(BuiltinOptions.SpaceToDepthOptions, Field.int32(0, 4));
        refused(
                BuiltinOperator.SPACE_TO_DEPTH,
                options,
                new int[] {x},
                "block size 4",
                "a divisor of height and width");
    }

    @Test
    void aShapeThatIsComputedFromAShapeFolds() {
        int shape = model.tensor(TensorSpec.of("shape", TensorType.INT32, 4));
        int joined = model.tensor(TensorSpec.of("joined", TensorType.INT32, 2));
        int y = model.tensor(TensorSpec.int8("y", 0.5f, 3, 4, 12));
        int[] slice = {shape, constant("begin", 1), constant("end", 2), constant("strides", 1)};
        int rows = model.tensor(TensorSpec.of("rows", TensorType.INT32, 1));
        Options plain = Options.table(BuiltinOptions.StridedSliceOptions, Field.int32(0, 0));
        Options along = Options.table(BuiltinOptions.ConcatenationOptions, Field.int32(0, 0), Field.int8(1, 0));
        model.operator(BuiltinOperator.SHAPE, 1, Options.none(), new int[] {x}, shape)
                .operator(BuiltinOperator.STRIDED_SLICE, 1, plain, slice, rows)
                .operator(BuiltinOperator.CONCATENATION, 1, along, new int[] {rows, constant("rest", -1)}, joined)
                .operator(BuiltinOperator.RESHAPE, 1, Options.none(), new int[] {x, joined}, y)
                .inputs(x)
                .outputs(y);
        Function function = model.read();
        assertThat(function.bindings()).extracting(b -> b.op().name()).containsExactly("reshape");
        byte[] input = new byte[48];
        assertThat(Interpreter.run(function, List.of(Bytes.wrap(input)))).containsExactly(Bytes.wrap(input));
    }
}
