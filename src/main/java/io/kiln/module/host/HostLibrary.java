// SPDX-License-Identifier: Apache-2.0
package io.kiln.module.host;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import java.nio.file.Path;
import java.util.List;

/**
 * A shared library of this computer whose functions have TVM's packed calling convention. Loading one runs code of it: load only libraries that you
 * made or trust. Models keep their workspace in the library: calls of one model must not overlap.
 */
public final class HostLibrary implements AutoCloseable {
    /** Size of a TVMValue. */
    private static final int VALUE = 8;

    private static final int HANDLE = 3;
    private static final int NULL = 4;
    private static final int TENSOR = 7;
    private static final String LAST_ERROR = "kiln_last_error";

    private final NativeLibrary library;
    private final Path file;

    private HostLibrary(NativeLibrary library, Path file) {
        this.library = library;
        this.file = file;
    }

    /**
     * Loads a library.
     *
     * @throws KilnException if the system cannot load it
     */
    public static HostLibrary load(Path file) {
        try {
            return new HostLibrary(
                    NativeLibrary.getInstance(file.toAbsolutePath().toString()), file);
        } catch (UnsatisfiedLinkError e) {
            throw new KilnException(
                    new Problem(
                            "the library cannot be loaded: " + e.getMessage(),
                            file.toString(),
                            "a shared library for this computer",
                            "Make it with kiln:export -Dkiln.export=library"),
                    e);
        }
    }

    /** Whether it has a function of that name. */
    public boolean has(String function) {
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
     */
    public void call(String function, List<HostTensor> tensors) {
        Memory values = new Memory((long) VALUE * Math.max(1, tensors.size()));
        Memory codes = new Memory((long) Integer.BYTES * Math.max(1, tensors.size()));
        for (int i = 0; i < tensors.size(); i++) {
            values.setPointer((long) VALUE * i, tensors.get(i).header());
            codes.setInt((long) Integer.BYTES * i, TENSOR);
        }
        call(function, values, codes, tensors.size());
    }

    /** Calls a function without arguments that returns an address. */
    Pointer address(String function) {
        Memory result = call(function, new Memory(VALUE), new Memory(Integer.BYTES), 0);
        if (result.getInt(VALUE) != HANDLE) {
            throw problem("`" + function + "` returns no address");
        }
        return result.getPointer(0);
    }

    /** The value that a function returns, and its type code behind it. */
    private Memory call(String function, Memory values, Memory codes, int count) {
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
        return new KilnException(Problem.of(what, file.toString()));
    }

    /** Unloads the library; nothing of it may be called any more. */
    @Override
    public void close() {
        library.close();
    }
}
