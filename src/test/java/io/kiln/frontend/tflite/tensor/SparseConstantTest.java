// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.flatbuffers.FlatBufferBuilder;
import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.tensor.TensorBuffers.SparseConstant;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.DimensionMetadata;
import org.tensorflow.lite.schema.DimensionType;
import org.tensorflow.lite.schema.SparseIndexVector;
import org.tensorflow.lite.schema.SparsityParameters;
import org.tensorflow.lite.schema.Uint8Vector;

/** Sparse constants get all of their elements; forms that do not fit are told. */
class SparseConstantTest {
    private static final Shape SHAPE = Shape.of(4, 8);

    private int[] order = {0, 1, 2};
    private int[] blockMap = {1};
    private int[] segments = {0, 1, 1, 3, 3};
    private int[] indices = {1, 0, 1};
    private int block = 4;

    private FlatTable table() {
        FlatBufferBuilder b = new FlatBufferBuilder();
        int rows = DimensionMetadata.createDimensionMetadata(b, DimensionType.DENSE, 4, (byte) 0, 0, (byte) 0, 0);
        int segment = vector(b, segments);
        int index = vector(b, indices);
        int blocks = DimensionMetadata.createDimensionMetadata(
                b,
                DimensionType.SPARSE_CSR,
                0,
                SparseIndexVector.Uint8Vector,
                segment,
                SparseIndexVector.Uint8Vector,
                index);
        int inner = DimensionMetadata.createDimensionMetadata(b, DimensionType.DENSE, block, (byte) 0, 0, (byte) 0, 0);
        int metadata = SparsityParameters.createDimMetadataVector(b, new int[] {rows, blocks, inner});
        int traversal = SparsityParameters.createTraversalOrderVector(b, order);
        int map = SparsityParameters.createBlockMapVector(b, blockMap);
        b.finish(SparsityParameters.createSparsityParameters(b, traversal, map, metadata));
        return new FlatBuffer("f", Bytes.wrap(b.sizedByteArray()), 1 << 20).root();
    }

    private static int vector(FlatBufferBuilder b, int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Uint8Vector.createUint8Vector(b, Uint8Vector.createValuesVector(b, bytes));
    }

    private byte[] expand(int stored) {
        byte[] values = new byte[stored];
        for (int i = 0; i < stored; i++) {
            values[i] = (byte) (i + 1);
        }
        return SparseConstant.expand(table(), SHAPE, values, 1);
    }

    @Test
    void blocksAreInTheirPlaces() {
        byte[] expected = new byte[32];
        for (int i = 0; i < 4; i++) {
            expected[4 + i] = (byte) (1 + i);
        }
        for (int i = 0; i < 8; i++) {
            expected[16 + i] = (byte) (5 + i);
        }
        assertThat(expand(12)).isEqualTo(expected);
    }

    @Test
    void whatDoesNotFitIsTold() {
        assertThatThrownBy(() -> expand(11)).hasMessageContaining("fewer elements are stored");
        assertThatThrownBy(() -> expand(13)).hasMessageContaining("more elements are stored");
        segments = new int[] {0, 2, 1, 3, 3};
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("segments that are not in order");
        segments = new int[] {0, 1, 1, 4, 4};
        assertThatThrownBy(() -> expand(16)).hasMessageContaining("segments that are not in order");
        segments = new int[] {0, 1, 3};
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("fewer segments than places");
        segments = new int[] {0, 1, 1, 3, 3};
        indices = new int[] {1, 0, 2};
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("an index beyond its 2 places");
        indices = new int[] {1, 0, 1};
        block = 3;
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("blocks of 3 in dimension 1");
        block = 0;
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("blocks of 0");
        block = 4;
        order = new int[] {0, 0, 2};
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("levels");
        order = new int[] {0, 1, 2};
        blockMap = new int[] {2};
        assertThatThrownBy(() -> expand(12)).hasMessageContaining("blocks of dimensions [2]");
    }

    /** Any numbers give elements or a message, in bounded time. */
    @Test
    void randomFormsGiveElementsOrAMessage() {
        Random random = new Random(7);
        List<String> messages = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            order = random.nextBoolean() ? new int[] {0, 1, 2} : numbers(random, 3);
            blockMap = random.nextBoolean() ? new int[] {1} : numbers(random, random.nextInt(3));
            segments = numbers(random, random.nextInt(7));
            Arrays.sort(segments);
            indices = numbers(random, random.nextInt(5));
            block = random.nextInt(6) - 1;
            try {
                assertThat(expand(random.nextInt(20))).hasSize(32);
            } catch (IllegalArgumentException e) {
                messages.add(e.getMessage());
            }
        }
        assertThat(messages).hasSizeBetween(1000, 2999).allMatch(message -> message.startsWith("its sparse form has "));
    }

    private static int[] numbers(Random random, int count) {
        return Arrays.stream(new int[count]).map(zero -> random.nextInt(4)).toArray();
    }
}
