// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.frontend.ExternalData;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.DimensionMetadata;
import io.kiln.frontend.tflite.schema.ModelTables.ExternalBuffer;
import io.kiln.frontend.tflite.schema.ModelTables.Metadata;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.SparsityParameters;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.ir.type.Shape;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** The model's buffers: the data of its constants, in the file or in files beside it. */
public final class TensorBuffers {
    private static final int HAS_NO_DATA = 0;

    private final FlatBuffer file;
    private static final int MAX_NAME = 1024;

    /** How often data of another file may be copied. */
    private static final long READS = 4;

    private final FlatVector buffers;
    private final FlatTable model;
    private final ExternalData external;

    /**
     * @param model the root of the file
     * @param external the files beside it
     */
    public TensorBuffers(FlatBuffer file, FlatTable model, ExternalData external) {
        this.file = file;
        this.buffers = model.get(Model.BUFFERS);
        this.model = model;
        this.external = external;
    }

    /** The files of a model's external buffers, by their names. */
    public static List<String> files(FlatTable model) {
        FlatVector groups = model.get(Model.EXTERNAL_BUFFER_GROUPS);
        return IntStream.range(0, groups.spent().size())
                .mapToObj(i -> groups.table(i).get(ExternalBuffer.GROUP_NAME, MAX_NAME))
                .toList();
    }

    private FlatVector beside(int id, PlaceFindings findings) {
        FlatVector all = model.get(Model.EXTERNAL_BUFFERS);
        List<String> files = files(model);
        for (int i = 0; i < all.spent().size(); i++) {
            FlatTable buffer = all.table(i);
            int group = buffer.get(ExternalBuffer.GROUP);
            if (buffer.get(ExternalBuffer.ID) == id && group >= 0 && group < files.size()) {
                long offset = buffer.get(ExternalBuffer.OFFSET);
                long length = buffer.get(ExternalBuffer.LENGTH);
                if (offset < 0 || length <= 0 || length > Integer.MAX_VALUE) {
                    break;
                }
                model.spend(length);
                String name = files.get(group);
                FlatBuffer data =
                        new FlatBuffer(name, external.read(name, offset, length, findings.where()), READS * length);
                return new FlatVector(data, 0, (int) length, 1);
            }
        }
        findings.add(
                "external buffer #" + Integer.toUnsignedString(id) + " does not exist, or has no bytes",
                "one of the model's " + all.size() + " external buffers",
                "Convert the model again");
        return new FlatVector(file, 0, 0, 1);
    }

    /**
     * The data of a tensor; empty if it is not a constant.
     *
     * @param tensor its table in the file
     * @param bytes required size of a constant
     */
    FlatVector data(FlatTable tensor, long bytes, PlaceFindings findings) {
        FlatVector data = data(tensor, findings);
        if (data.size() != 0 && data.size() != bytes) {
            findings.add(
                    "the constant has " + data.size() + " bytes",
                    bytes + " bytes for its shape and type",
                    "Export the model again");
        }
        return data;
    }

    /** The data of a tensor, of whatever size. Small models keep data inside the FlatBuffer; large ones after it, at an offset from the file's start. */
    FlatVector data(FlatTable table, PlaceFindings findings) {
        if (table.get(Tensor.EXTERNAL_BUFFER) != 0) {
            return beside(table.get(Tensor.EXTERNAL_BUFFER), findings);
        }
        long index = table.get(Tensor.BUFFER) & 0xFFFFFFFFL;
        if (index == HAS_NO_DATA) {
            return new FlatVector(file, 0, 0, 1);
        }
        if (index >= buffers.size()) {
            findings.add(
                    "buffer #" + index + " does not exist",
                    "one of the model's " + buffers.size() + " buffers",
                    "Export the model again");
            return new FlatVector(file, 0, 0, 1);
        }
        return stored((int) index);
    }

    /** What a tool left in the file under a name; empty if it has left nothing. */
    public Optional<FlatVector> metadata(String name) {
        FlatVector entries = model.get(Model.METADATA);
        for (int i = 0; i < entries.spent().size(); i++) {
            FlatTable entry = entries.table(i);
            int index = entry.get(Metadata.BUFFER);
            if (entry.get(Metadata.NAME, MAX_NAME).equals(name) && index > HAS_NO_DATA && index < buffers.size()) {
                return Optional.of(stored(index));
            }
        }
        return Optional.empty();
    }

    private FlatVector stored(int index) {
        FlatTable buffer = buffers.table(index);
        long offset = buffer.get(Buffer.OFFSET);
        long size = buffer.get(Buffer.SIZE);
        if (offset <= 1) {
            return buffer.get(Buffer.DATA);
        }
        if (size < 0 || size > file.size() || offset < 0 || offset > file.size() - size) {
            throw file.corrupt("buffer #" + index + " lies outside the file", offset);
        }
        return new FlatVector(file, (int) offset, (int) size, 1);
    }

    /**
     * Expands constants of which blocks are stored (internal/utils/sparsity_format_converter.cc). Levels are walked one inside the other: a dense
     * level has all indices, a compressed one those that it lists for each place of the level before. At the innermost level the next stored element
     * follows.
     */
    static final class SparseConstant {
        private static final int DENSE = 0;
        private static final int COMPRESSED = 1;

        /** Bytes of the indices by the code of their type in the schema's union {@code SparseIndexVector}. */
        private static final List<Integer> INDEX_BYTES = List.of(0, Integer.BYTES, Short.BYTES, Byte.BYTES);

        private final Shape shape;
        private final List<Integer> blockMap;
        private final List<Level> levels;
        private final byte[] stored;
        private final int width;
        private final byte[] expanded;
        private int next;

        /**
         * A level.
         *
         * @param dimension of the tensor, or after these one of the blocks
         * @param size number of its indices
         * @param segments where the indices of each place of the level before begin; none if the level is dense
         * @param indices the indices that it lists
         */
        private record Level(int dimension, int size, Optional<IntBuffer> segments, IntBuffer indices) {}

        private SparseConstant(Shape shape, List<Integer> blockMap, List<Level> levels, byte[] stored, int width) {
            this.shape = shape;
            this.blockMap = blockMap;
            this.levels = levels;
            this.stored = stored;
            this.width = width;
            this.expanded = new byte[Math.toIntExact(shape.elements() * width)];
        }

        /**
         * All elements.
         *
         * @param width bytes of an element
         * @throws IllegalArgumentException with what is wrong
         */
        static byte[] expand(FlatTable sparsity, Shape shape, byte[] stored, int width) {
            List<Integer> blockMap = Arrays.stream(
                            sparsity.get(SparsityParameters.BLOCK_MAP).ints())
                    .boxed()
                    .toList();
            int[] order = sparsity.get(SparsityParameters.TRAVERSAL_ORDER).ints();
            FlatVector metadata = sparsity.get(SparsityParameters.DIM_METADATA);
            int count = shape.rank() + blockMap.size();
            Set<Integer> dimensions = new HashSet<>();
            boolean isOrder = Arrays.stream(order).allMatch(d -> d >= 0 && d < count && dimensions.add(d));
            require(
                    isOrder && dimensions.size() == count && metadata.size() == count,
                    order.length + " levels and " + metadata.size() + " descriptions for " + count + " dimensions");
            require(
                    blockMap.stream().allMatch(d -> d >= 0 && d < shape.rank())
                            && new HashSet<>(blockMap).size() == blockMap.size(),
                    "blocks of dimensions " + blockMap);
            List<FlatTable> tables = new ArrayList<>();
            int[] blocks = new int[shape.rank()];
            Arrays.fill(blocks, 1);
            for (int i = 0; i < count; i++) {
                tables.add(metadata.table(i));
                if (order[i] >= shape.rank()) {
                    blocks[blockMap.get(order[i] - shape.rank())] =
                            tables.get(i).get(DimensionMetadata.DENSE_SIZE);
                }
            }
            List<Level> levels = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                boolean isBlock = order[i] >= shape.rank();
                int dimension = isBlock ? blockMap.get(order[i] - shape.rank()) : order[i];
                int block = blocks[dimension];
                require(
                        block > 0 && shape.dim(dimension) % block == 0,
                        "blocks of " + block + " in dimension " + dimension + " of " + shape.text());
                levels.add(level(tables.get(i), order[i], isBlock ? block : shape.dim(dimension) / block));
            }
            SparseConstant constant = new SparseConstant(shape, blockMap, levels, stored, width);
            constant.walk(0, 0, new int[count]);
            require(constant.next == stored.length, "more elements are stored than it has places");
            return constant.expanded;
        }

        private static Level level(FlatTable table, int dimension, int size) {
            int format = table.get(DimensionMetadata.FORMAT);
            if (format == DENSE) {
                return new Level(dimension, size, Optional.empty(), IntBuffer.allocate(0));
            }
            require(format == COMPRESSED, "the format " + format);
            int[] segments = numbers(table, DimensionMetadata.ARRAY_SEGMENTS_TYPE, DimensionMetadata.ARRAY_SEGMENTS);
            int[] indices = numbers(table, DimensionMetadata.ARRAY_INDICES_TYPE, DimensionMetadata.ARRAY_INDICES);
            int before = 0;
            for (int segment : segments) {
                require(segment >= before && segment <= indices.length, "segments that are not in order");
                before = segment;
            }
            require(
                    Arrays.stream(indices).allMatch(i -> i >= 0 && i < size),
                    "an index beyond its " + size + " places");
            return new Level(dimension, size, Optional.of(IntBuffer.wrap(segments)), IntBuffer.wrap(indices));
        }

        private static int[] numbers(FlatTable table, Field.UByte type, Field.Table field) {
            int code = table.get(type);
            require(code > 0 && code < INDEX_BYTES.size(), "indices of type " + code);
            int bytes = INDEX_BYTES.get(code);
            FlatVector vector = table.get(field)
                    .map(numbers -> numbers.get(new Field.Vector(0, bytes)))
                    .orElseThrow(() -> new IllegalArgumentException("a level without indices"));
            if (bytes == Integer.BYTES) {
                return vector.ints();
            }
            byte[] data = new FlatVector(vector.buffer(), vector.start(), vector.size() * bytes, 1).bytes();
            int[] numbers = new int[vector.size()];
            for (int i = 0; i < numbers.length; i++) {
                int low = data[i * bytes] & 0xFF;
                numbers[i] = bytes == 1 ? low : low | (data[i * bytes + 1] & 0xFF) << Byte.SIZE;
            }
            return numbers;
        }

        /** @param place in the level before, counted as that stores it */
        private void walk(int number, int place, int[] at) {
            if (number == levels.size()) {
                store(at);
                return;
            }
            Level level = levels.get(number);
            if (level.segments.isEmpty()) {
                for (int i = 0; i < level.size; i++) {
                    at[level.dimension] = i;
                    walk(number + 1, place * level.size + i, at);
                }
                return;
            }
            IntBuffer segments = level.segments.orElseThrow();
            require(place + 1 < segments.limit(), "fewer segments than places");
            for (int i = segments.get(place); i < segments.get(place + 1); i++) {
                at[level.dimension] = level.indices.get(i);
                walk(number + 1, i, at);
            }
        }

        private void store(int[] at) {
            require(next + width <= stored.length, "fewer elements are stored than it has places");
            int position = 0;
            for (int d = 0; d < shape.rank(); d++) {
                int block = blockMap.indexOf(d);
                int size = block < 0
                        ? 1
                        : levels.stream()
                                .filter(level -> level.dimension == shape.rank() + block)
                                .mapToInt(Level::size)
                                .findFirst()
                                .orElse(1);
                int index = block < 0 ? at[d] : at[d] * size + at[shape.rank() + block];
                position = position * shape.dim(d) + index;
            }
            System.arraycopy(stored, next, expanded, position * width, width);
            next += width;
        }

        private static void require(boolean holds, String what) {
            if (!holds) {
                throw new IllegalArgumentException("its sparse form has " + what);
            }
        }
    }
}
