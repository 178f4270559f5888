// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.host;

import com.sun.jna.Pointer;
import io.kiln.artifact.DlpackType;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A model in a library of {@code kiln:export -Dkiln.export=library} with the executor that is generated ahead of time: the very code that the
 * firmware runs.
 *
 * <pre>{@code
 * try (HostModel model = HostModel.load(Path.of("libkws.so"), "kws")) {
 *     List<Bytes> outputs = model.run(List.of(input));
 * }
 * }</pre>
 *
 * Each object has its own copy of the library, so that several, of the same file too, may be used at once; one object is for one thread at a
 * time. A model with variables, such as an LSTM, keeps their values from one run to the next until {@link #reset}.
 */
public final class HostModel implements AutoCloseable {
    /** Size of a TVMTensorInfo with pointers of 64 bits (tvm/runtime/metadata_types.h): name, shape, rank, type. */
    private static final int TENSOR_INFO = 32;

    private static final int POINTER = 8;

    private final HostLibrary library;
    private final String function;
    private final String reset;
    private final List<HostTensor> inputs;
    private final List<HostTensor> outputs;

    private HostModel(HostLibrary library, String prefix, List<HostTensor> inputs, List<HostTensor> outputs) {
        this.library = library;
        this.function = prefix + "_run";
        this.reset = prefix + "_reset";
        this.inputs = List.copyOf(inputs);
        this.outputs = List.copyOf(outputs);
    }

    /**
     * Loads a library and prepares tensors for a model of it.
     *
     * @param name the model's name, {@code kiln.name}
     * @throws KilnException if the library cannot be loaded or has no such model
     */
    public static HostModel load(Path file, String name) {
        HostLibrary library = HostLibrary.load(file);
        String prefix = "tvmgen_" + name;
        try {
            Pointer metadata = library.address(prefix + "_get_c_metadata");
            return new HostModel(library, prefix, tensors(metadata, 1, file), tensors(metadata, 3, file));
        } catch (RuntimeException e) {
            library.close();
            throw e;
        }
    }

    /** A table of tensors: its address and its length are two members of TVMMetadata. */
    private static List<HostTensor> tensors(Pointer metadata, int member, Path file) {
        Pointer table = metadata.getPointer((long) POINTER * member);
        long count = metadata.getLong((long) POINTER * (member + 1));
        List<HostTensor> tensors = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            Pointer info = table.share(i * TENSOR_INFO);
            String name = info.getPointer(0).getString(0, "UTF-8");
            long[] shape = info.getPointer(POINTER).getLongArray(0, (int) info.getLong(2 * POINTER));
            List<Integer> dimensions = new ArrayList<>();
            for (long dimension : shape) {
                dimensions.add(Math.toIntExact(dimension));
            }
            DlpackType type = new DlpackType(info.getByte(3 * POINTER), info.getByte(3 * POINTER + 1) & 0xFF);
            DType dtype = type.dtype()
                    .orElseThrow(() -> Failure.ARCHIVE.exception(
                            "tensor `" + name + "` has elements of an unknown type: " + type, file.toString()));
            tensors.add(new HostTensor(name, dtype, dimensions));
        }
        return tensors;
    }

    /** The model's inputs, in its order. */
    public List<HostTensor> inputs() {
        return inputs;
    }

    /** The model's outputs, in its order. */
    public List<HostTensor> outputs() {
        return outputs;
    }

    /**
     * Runs the model.
     *
     * @param values the elements of each input, row-major, little-endian
     * @return the elements of each output
     * @throws IllegalArgumentException if number or sizes of the inputs are wrong
     * @throws KilnException with the model's message if it fails
     * @throws IllegalStateException if it is closed
     */
    public List<Bytes> run(List<Bytes> values) {
        if (values.size() != inputs.size()) {
            throw new IllegalArgumentException(function + " has " + inputs.size() + " inputs, not " + values.size());
        }
        for (int i = 0; i < values.size(); i++) {
            inputs.get(i).set(values.get(i));
        }
        library.call(function, Stream.concat(inputs.stream(), outputs.stream()).toList());
        return outputs.stream().map(HostTensor::get).toList();
    }

    /**
     * Sets the variables of a model with a state to what they are when the library is loaded. A model without variables stays as it is.
     *
     * @throws KilnException with the model's message if it fails
     * @throws IllegalStateException if it is closed
     */
    public void reset() {
        if (library.has(reset)) {
            library.call(reset, List.of());
        }
    }

    /** Unloads its copy of the library; closing it again does nothing. */
    @Override
    public void close() {
        library.close();
    }
}
