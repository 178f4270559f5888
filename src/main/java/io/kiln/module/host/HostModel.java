// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.host;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import io.kiln.artifact.DlpackType;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

    /**
     * A shared library of this computer whose functions have TVM's packed calling convention. Loading one runs code of it: load only libraries that you
     * made or trust.
     *
     * <p>Models keep their workspace and their state in the library. Therefore each object loads a copy of the file of its own, which shares nothing
     * with those loaded before, and which stays as it is when the file is replaced or deleted. Calls of one object wait for each other, and {@link
     * #close} waits for them.
     */
    public static final class HostLibrary implements AutoCloseable {
        /** Size of a TVMValue. */
        private static final int VALUE = 8;

        private static final int HANDLE = 3;
        private static final int NULL = 4;
        private static final int TENSOR = 7;
        private static final String LAST_ERROR = "kiln_last_error";

        /** RTLD_NOW, and on macOS RTLD_LOCAL, which is the default elsewhere: symbols of one copy must not stand for those of another. */
        private static final Map<String, Object> APART =
                Platform.isWindows() ? Map.of() : Map.of(Library.OPTION_OPEN_FLAGS, Platform.isMac() ? 6 : 2);

        private final NativeLibrary library;
        private final Path file;
        private final Path copy;
        private boolean isClosed;

        private HostLibrary(NativeLibrary library, Path file, Path copy) {
            this.library = library;
            this.file = file;
            this.copy = copy;
        }

        /**
         * Loads a library.
         *
         * @throws KilnException if the system cannot load it
         */
        public static HostLibrary load(Path file) {
            try {
                return loaded(file, Path.of(System.getProperty("java.io.tmpdir")));
            } catch (UnsatisfiedLinkError e) {
                // Nothing may be executed in some folders of temporary files, and some libraries look for others beside
                // them.
                try {
                    return loaded(file, file.toAbsolutePath().getParent());
                } catch (UnsatisfiedLinkError | UncheckedIOException again) {
                    throw refused(file, e.getMessage(), e);
                }
            } catch (UncheckedIOException e) {
                throw refused(file, FileFailure.reason(e.getCause()), e);
            }
        }

        private static HostLibrary loaded(Path file, Path folder) {
            Path copy = copied(file, folder);
            try {
                HostLibrary library = new HostLibrary(NativeLibrary.getInstance(copy.toString(), APART), file, copy);
                if (!Platform.isWindows()) {
                    delete(copy); // The system keeps what it has mapped.
                }
                return library;
            } catch (UnsatisfiedLinkError e) {
                delete(copy);
                throw new UnsatisfiedLinkError(reason(String.valueOf(e.getMessage()), copy));
            }
        }

        /** What the system says, taken out of JNA's message, which also lists all places where it has looked. */
        private static String reason(String message, Path copy) {
            List<String> lines = message.lines().map(String::strip).toList();
            String place = copy + ": ";
            return lines.stream()
                    .filter(line -> line.startsWith(place))
                    .findFirst()
                    .map(line -> line.substring(place.length()))
                    .orElse(lines.get(0).replace(copy.toString(), "it"));
        }

        private static Path copied(Path file, Path folder) {
            try {
                Path copy = Files.createTempFile(folder.toAbsolutePath(), "kiln", "-" + file.getFileName());
                try {
                    return Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                } catch (IOException e) {
                    Files.deleteIfExists(copy);
                    throw e;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void delete(Path copy) {
            try {
                Files.deleteIfExists(copy);
            } catch (IOException e) {
                copy.toFile().deleteOnExit();
            }
        }

        private static KilnException refused(Path file, String why, Throwable cause) {
            return new KilnException(
                    Failure.ARCHIVE.problem(
                            "the library cannot be loaded: " + why,
                            file.toString(),
                            "a shared library for this computer",
                            "Make it with kiln:export -Dkiln.export=library"),
                    cause);
        }

        /**
         * Whether it has a function of that name.
         *
         * @throws IllegalStateException if it is closed
         */
        public synchronized boolean has(String function) {
            requireOpen();
            try {
                library.getFunction(function);
                return true;
            } catch (UnsatisfiedLinkError e) {
                return false;
            }
        }

        /**
         * Calls a packed function with tensors: inputs, then outputs.
         *
         * @throws KilnException if there is no such function, or with its message if it fails
         * @throws IllegalStateException if it is closed
         */
        public synchronized void call(String function, List<HostTensor> tensors) {
            try {
                Memory values = new Memory((long) VALUE * Math.max(1, tensors.size()));
                Memory codes = new Memory((long) Integer.BYTES * Math.max(1, tensors.size()));
                for (int i = 0; i < tensors.size(); i++) {
                    values.setPointer((long) VALUE * i, tensors.get(i).header());
                    codes.setInt((long) Integer.BYTES * i, TENSOR);
                }
                call(function, values, codes, tensors.size());
            } finally {
                Reference.reachabilityFence(tensors);
            }
        }

        /** Calls a function without arguments that returns an address. */
        synchronized Pointer address(String function) {
            Memory result = call(function, new Memory(VALUE), new Memory(Integer.BYTES), 0);
            if (result.getInt(VALUE) != HANDLE) {
                throw problem("`" + function + "` returns no address");
            }
            return result.getPointer(0);
        }

        /** The value that a function returns, and its type code behind it. */
        private Memory call(String function, Memory values, Memory codes, int count) {
            requireOpen();
            Function found;
            try {
                found = library.getFunction(function);
            } catch (UnsatisfiedLinkError e) {
                throw problem("there is no function `" + function + "`");
            }
            Memory result = new Memory(VALUE + (long) Integer.BYTES);
            result.clear();
            result.setInt(VALUE, NULL);
            int code = found.invokeInt(new Object[] {values, codes, count, result, result.share(VALUE), Pointer.NULL});
            if (code != 0) {
                throw problem("`" + function + "` returned " + code + message());
            }
            return result;
        }

        private String message() {
            if (!has(LAST_ERROR)) {
                return "";
            }
            String message = library.getFunction(LAST_ERROR).invokeString(new Object[0], false);
            return message.isEmpty() ? "" : ": " + message;
        }

        private KilnException problem(String what) {
            return Failure.ARCHIVE.exception(what, file.toString());
        }

        private void requireOpen() {
            if (isClosed) {
                throw new IllegalStateException("the library " + file + " is closed");
            }
        }

        /** Unloads the library, after a call that runs; closing it again does nothing. */
        @Override
        public synchronized void close() {
            if (!isClosed) {
                isClosed = true;
                library.close();
                delete(copy);
            }
        }
    }

    /**
     * A tensor in memory that functions of a library read and write: a {@code DLTensor} (dlpack.h) on the CPU, with its elements row-major and in the
     * byte order of this computer.
     */
    public static final class HostTensor {
        /** Size of a DLTensor with pointers of 64 bits. */
        private static final int BYTES = 48;

        private static final int DEVICE = 8;
        private static final int RANK = 16;
        private static final int TYPE = 20;
        private static final int SHAPE = 24;

        private static final int ALIGNMENT = 64;
        private static final int CPU = 1;

        private final String name;
        private final DType dtype;
        private final List<Integer> dimensions;
        private final Memory header = new Memory(BYTES);
        private final Memory shape;
        private final Pointer data;
        private final int size;

        /**
         * A tensor of zeros.
         *
         * @param name its name, for messages
         * @param dimensions each at least 0
         */
        public HostTensor(String name, DType dtype, List<Integer> dimensions) {
            long bytes = dtype.bytes();
            for (int dimension : dimensions) {
                bytes = Math.multiplyExact(bytes, dimension);
            }
            this.name = name;
            this.dtype = dtype;
            this.dimensions = List.copyOf(dimensions);
            this.size = Math.toIntExact(bytes);
            this.shape = new Memory(Math.max(1, dimensions.size()) * (long) Long.BYTES);
            for (int i = 0; i < dimensions.size(); i++) {
                shape.setLong((long) i * Long.BYTES, dimensions.get(i));
            }
            Memory memory = new Memory(size + (long) ALIGNMENT).align(ALIGNMENT);
            memory.clear(size + 1L);
            this.data = memory;
            DlpackType type = DlpackType.of(dtype);
            header.clear();
            header.setPointer(0, data);
            header.setInt(DEVICE, CPU);
            header.setInt(RANK, dimensions.size());
            header.setByte(TYPE, (byte) type.code());
            header.setByte(TYPE + 1, (byte) type.bits());
            header.setShort(TYPE + 2, (short) 1);
            header.setPointer(SHAPE, shape);
        }

        public String name() {
            return name;
        }

        public DType dtype() {
            return dtype;
        }

        public List<Integer> dimensions() {
            return dimensions;
        }

        /** Size of its elements in bytes. */
        public int bytes() {
            return size;
        }

        /**
         * Sets all elements.
         *
         * @throws IllegalArgumentException unless they are {@link #bytes} bytes
         */
        public void set(Bytes elements) {
            if (elements.size() != size) {
                throw new IllegalArgumentException(
                        "tensor `" + name + "` has " + size + " bytes, not " + elements.size());
            }
            data.write(0, elements.toArray(), 0, size);
        }

        public Bytes get() {
            return Bytes.wrap(data.getByteArray(0, size));
        }

        Pointer header() {
            return header;
        }
    }
}
