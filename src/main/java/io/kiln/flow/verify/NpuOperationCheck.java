// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.base.Bytes;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Compares what each operation of the model of the NPU leaves with the layers of the model as it was before Vela. An operation computes a
 * layer, some of its rows or channels, or a step that no layer shows; so the first one that leaves something else than a layer of its shape is found
 * among those whose values no layer has.
 */
final class NpuOperationCheck implements Consumer<String> {
    private static final Pattern LINE = Pattern.compile(
            "^npu ((\\d+) [a-z]+ .* (\\d{1,9})x(\\d{1,9})x(\\d{1,9}) ([su])(8|16|32)) crc32" + " ([0-9a-f]{8})$");

    /** Bytes of layers that are looked at for one model; rows and channels of large ones take many looks. */
    private static final long MOST_BYTES = 1L << 30;

    private final List<Operation> operations = new ArrayList<>();
    private int parts;
    private long looked;

    /** An operation: its part of the model and its text, the shape of what it leaves, and the CRC-32 of that. */
    private record Operation(int part, String text, int rows, int columns, int channels, String type, long crc) {
        long bytes() {
            return (long) rows * columns * channels * size();
        }

        int size() {
            return Integer.parseInt(type.substring(1)) / Byte.SIZE;
        }
    }

    /** A layer of the original: values in the order H, W, C. */
    private static final class Layer {
        private final String name;
        private final TensorType type;
        private final byte[] values;

        Layer(String name, TensorType type, byte[] values) {
            this.name = name;
            this.type = type;
            this.values = values;
        }

        int channels() {
            int rank = type.shape().rank();
            return rank == 0 ? 1 : type.shape().dims().get(rank - 1);
        }

        int columns() {
            int rank = type.shape().rank();
            return rank < 3 ? 1 : type.shape().dims().get(rank - 2);
        }

        boolean isOf(String npuType) {
            String own = type.dtype().text();
            return own.equals(npuType.replace("s", "int").replace("u", "uint"));
        }
    }

    /** Takes a line of the console; others than those of operations are left out. */
    @Override
    public void accept(String line) {
        Matcher found = LINE.matcher(line);
        if (found.matches()) {
            parts += found.group(2).equals("1") ? 1 : 0;
            operations.add(new Operation(
                    parts,
                    found.group(1),
                    Integer.parseInt(found.group(3)),
                    Integer.parseInt(found.group(4)),
                    Integer.parseInt(found.group(5)),
                    found.group(6) + found.group(7),
                    Long.parseLong(found.group(8), 16)));
        }
    }

    /** Forgets the operations of the model before. */
    void clear() {
        operations.clear();
        parts = 0;
        looked = 0;
    }

    /** Number of operations so far. */
    int count() {
        return operations.size();
    }

    /**
     * The first operation that leaves other values than the original.
     *
     * @param values of the original's bindings, by id
     * @return its text with the layer of its shape; empty if each one that could be a layer is one
     */
    Optional<String> firstWrong(Function original, Map<Integer, Bytes> values) {
        List<Layer> layers = original.bindings().stream()
                .filter(binding -> values.containsKey(binding.id()))
                .map(binding -> layer(binding, values.get(binding.id())))
                .toList();
        Set<Layer> found = new HashSet<>();
        List<Operation> unknown = new ArrayList<>();
        int afterLast = 0;
        for (Operation operation : operations) {
            List<Layer> same =
                    layers.stream().filter(layer -> leaves(operation, layer)).toList();
            found.addAll(same);
            if (same.isEmpty()) {
                unknown.add(operation);
            } else {
                afterLast = unknown.size();
            }
        }
        for (Operation operation : unknown) {
            Optional<Layer> missing = layers.stream()
                    .filter(layer -> !found.contains(layer) && couldBe(operation, layer))
                    .min(Comparator.comparingInt(layer -> layer.values.length == operation.bytes() ? 0 : 1));
            if (missing.isPresent()) {
                return Optional.of(text(operation) + ", whose values are not those of layer " + missing.get().name);
            }
        }
        return unknown.subList(afterLast, unknown.size()).stream()
                .findFirst()
                .map(operation -> text(operation) + ", the first behind those that leave layers");
    }

    private static String text(Operation operation) {
        return "operation `" + operation.text + "` of part " + operation.part;
    }

    private static Layer layer(Binding binding, Bytes values) {
        return new Layer(binding.origin().text(), binding.type(), values.toArray());
    }

    /** Whether an operation could compute the layer, or rows and channels of it. */
    private static boolean couldBe(Operation operation, Layer layer) {
        boolean isWhole = layer.values.length == operation.bytes();
        boolean isPart = layer.values.length > operation.bytes()
                && layer.columns() == operation.columns
                && layer.channels() >= operation.channels;
        return layer.isOf(operation.type) && (isWhole || isPart);
    }

    private boolean leaves(Operation operation, Layer layer) {
        if (!couldBe(operation, layer)) {
            return false;
        }
        if (layer.values.length == operation.bytes()) {
            return crc(layer.values, 0, layer.values.length, layer.values.length, 1) == operation.crc;
        }
        int row = layer.columns() * layer.channels() * operation.size();
        int width = operation.channels * operation.size();
        int pixels = operation.rows * operation.columns;
        for (int y = 0; y + operation.rows <= layer.values.length / row; y++) {
            for (int c = 0; c + operation.channels <= layer.channels(); c += Byte.SIZE) {
                int first = y * row + c * operation.size();
                if (looked < MOST_BYTES
                        && crc(layer.values, first, width, layer.channels() * operation.size(), pixels)
                                == operation.crc) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The CRC-32 of runs of bytes. */
    private long crc(byte[] values, int first, int width, int stride, int count) {
        CRC32 crc = new CRC32();
        for (int i = 0; i < count; i++) {
            crc.update(values, first + i * stride, width);
        }
        looked += (long) width * count;
        return crc.getValue();
    }
}
