// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu.model;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** A file of Vela's all of whose operators are the NPU's, as much of it as the model of the NPU needs. */
public final class VelaFile {
    private static final Field.Vector METADATA = new Field.Vector(6);
    private static final Field.Text METADATA_NAME = new Field.Text(0);
    private static final Field.Int32 METADATA_BUFFER = new Field.Int32(1);
    private static final int FLASH = 1;
    private static final int FAST = 3;
    private static final int CONFIG_AT = 8;

    private final FlatTable model;
    private final FlatTable graph;
    private final int[] offsets;

    private VelaFile(FlatTable model, String file) {
        this.model = model;
        this.graph = model.get(Model.SUBGRAPHS).table(0);
        FlatVector metadata = model.get(METADATA);
        int plan = IntStream.range(0, metadata.size())
                .filter(i -> metadata.table(i).get(METADATA_NAME, 64).equals("OfflineMemoryAllocation"))
                .map(i -> metadata.table(i).get(METADATA_BUFFER))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no memory plan in " + file));
        ByteBuffer numbers = ByteBuffer.wrap(data(plan)).order(ByteOrder.LITTLE_ENDIAN);
        this.offsets = IntStream.range(3, numbers.capacity() / Integer.BYTES)
                .map(i -> numbers.getInt(Integer.BYTES * i))
                .toArray();
    }

    /** Reads a file. */
    public static VelaFile read(Path file) {
        try {
            Bytes content = Bytes.wrap(Files.readAllBytes(file));
            return new VelaFile(new FlatBuffer(file.toString(), content, 64L << 20).root(), file.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A tensor's place in the arena. */
    public record Part(int offset, int bytes) {}

    /** The arena's size: that of all tensors that lie in it. */
    public int arena() {
        return IntStream.range(0, offsets.length)
                .filter(i -> offsets[i] >= 0)
                .map(i -> offsets[i] + bytes(i))
                .max()
                .orElse(0);
    }

    /** The command streams, in order. */
    public List<byte[]> payloads() {
        FlatVector operators = graph.get(SubGraph.OPERATORS);
        return IntStream.range(0, operators.size())
                .mapToObj(i -> content(input(i, 0)))
                .toList();
    }

    /** Weights, scales and tables. */
    public byte[] flash() {
        return content(input(0, FLASH));
    }

    public int fastBytes() {
        return bytes(input(0, FAST));
    }

    /** The configuration that the file was made for. */
    public int config() {
        return Bytes.wrap(payloads().get(0)).int32(CONFIG_AT);
    }

    public List<Part> inputs() {
        return parts(SubGraph.INPUTS);
    }

    public List<Part> outputs() {
        return parts(SubGraph.OUTPUTS);
    }

    private List<Part> parts(Field.Vector tensors) {
        return Arrays.stream(graph.get(tensors).ints())
                .mapToObj(tensor -> new Part(offsets[tensor], bytes(tensor)))
                .toList();
    }

    /** A job for these cases, of all inputs each. */
    NpuJob job(List<Bytes> cases) {
        NpuJob job = new NpuJob(config())
                .region(flash().length, Bytes.wrap(flash()))
                .region(arena(), Bytes.ofText(""))
                .region(fastBytes(), Bytes.ofText(""));
        payloads().forEach(job::payload);
        outputs().forEach(part -> job.take(1, part.offset(), part.bytes()));
        for (Bytes inputs : cases) {
            List<NpuJob.Place> puts = new ArrayList<>();
            int at = 0;
            for (Part part : inputs()) {
                puts.add(new NpuJob.Place(1, part.offset(), inputs.part(at, part.bytes())));
                at += part.bytes();
            }
            job.run(puts);
        }
        return job;
    }

    private int input(int operator, int index) {
        return graph.get(SubGraph.OPERATORS)
                .table(operator)
                .get(Operator.INPUTS)
                .i32(index);
    }

    private FlatTable tensor(int index) {
        return graph.get(SubGraph.TENSORS).table(index);
    }

    private byte[] content(int tensor) {
        return data(tensor(tensor).get(Tensor.BUFFER));
    }

    private byte[] data(int buffer) {
        return model.get(Model.BUFFERS).table(buffer).get(Buffer.DATA).bytes();
    }

    /** Elements of the NPU's tensors that no file here has are left out: types 1 float16, 4 int64 and others. */
    private int bytes(int tensor) {
        int element = switch (tensor(tensor).get(Tensor.TYPE)) {
            case 0, 2 -> 4;
            case 7 -> 2;
            case 3, 9 -> 1;
            default -> throw new AssertionError("type of tensor " + tensor);
        };
        return element * Arrays.stream(tensor(tensor).get(Tensor.SHAPE).ints()).reduce(1, (a, b) -> a * b);
    }
}
