// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip.ZipEntries;
import io.kiln.base.Problems;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/**
 * Samples as arrays: an array for each input, whose first dimension counts the samples and whose others are the
 * input's; an input's leading 1 may be left out.
 */
final class ArraySamples {
    private static final String SUFFIX = ".npy";
    private static final int MAX_ARRAYS = 1000;

    private ArraySamples() {}

    static List<Sample> single(String where, NumpyArray array, List<Parameter> inputs) {
        if (inputs.size() != 1) {
            throw Failure.QUANTIZE.exception(
                    "the model has " + inputs.size() + " inputs, a .npy file holds one array",
                    where,
                    "a .npz file with an array for each of " + names(inputs),
                    "Write it with numpy.savez(file, name=array, …)");
        }
        return several(where, Map.of(inputs.get(0).name(), array), inputs);
    }

    static List<Sample> several(String where, Map<String, NumpyArray> named, List<Parameter> inputs) {
        boolean isOnly = inputs.size() == 1 && named.size() == 1;
        Map<String, NumpyArray> arrays =
                isOnly ? Map.of(inputs.get(0).name(), named.values().iterator().next()) : named;
        Problems problems = new Problems(Failure.QUANTIZE);
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (Parameter input : inputs) {
            Optional<NumpyArray> array = Optional.ofNullable(arrays.get(input.name()));
            if (array.isEmpty()) {
                problems.add(
                        "there is no array `" + input.name() + "`",
                        where,
                        "an array for each of " + names(inputs) + "; the file has " + arrays.keySet(),
                        "Write it with numpy.savez(file, **{'" + input.name() + "': array})");
            } else {
                count(array.get().shape(), input.type().shape())
                        .ifPresentOrElse(
                                count -> counts.put(input.name(), count),
                                () -> problems.add(
                                        "the array " + array.get().shape().text() + " does not fit input `"
                                                + input.name() + "` "
                                                + input.type().text(),
                                        where,
                                        "the number of samples, then the dimensions of the input",
                                        ""));
            }
        }
        if (counts.values().stream().distinct().count() > 1) {
            problems.add("the arrays differ in their number of samples: " + counts, where, "one number", "");
        }
        problems.throwIfAny();
        int count = counts.values().iterator().next();
        if (count > SampleReader.MAX_SAMPLES) {
            throw SampleReader.tooLarge(where);
        }
        return samples(where, arrays, inputs, count);
    }

    private static List<Sample> samples(
            String where, Map<String, NumpyArray> arrays, List<Parameter> inputs, int count) {
        List<Sample> samples = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            List<Bytes> values = new ArrayList<>();
            for (Parameter input : inputs) {
                int elements = Math.toIntExact(input.type().shape().elements());
                values.add(arrays.get(input.name())
                        .elements(k * elements, elements, input.type().dtype(), where));
            }
            samples.add(new Sample("sample " + k, values));
        }
        return samples;
    }

    /** How many samples an array holds; empty if it does not fit. */
    private static Optional<Integer> count(Shape array, Shape input) {
        if (array.rank() == 0) {
            return Optional.empty();
        }
        List<Integer> rest = array.dims().subList(1, array.rank());
        boolean isBatch = input.rank() > 0 && input.dim(0) == 1;
        boolean fits = rest.equals(input.dims())
                || (isBatch && rest.equals(input.dims().subList(1, input.rank())));
        return fits ? Optional.of(array.dim(0)) : Optional.empty();
    }

    private static List<String> names(List<Parameter> inputs) {
        return inputs.stream().map(Parameter::name).toList();
    }

    /**
     * The arrays of NumPy's format {@code .npz}, a zip of {@code <name>.npy}, by name and in the archive's order.
     *
     * @param where the file for messages
     * @throws KilnException if it is not such an archive, or unpacks to more than {@link SampleReader#MAX_BYTES}
     */
    static Map<String, NumpyArray> archive(byte[] content, String where) {
        Map<String, NumpyArray> arrays = new LinkedHashMap<>();
        try {
            if (ZipEntries.areMoreThan(MAX_ARRAYS, new ByteArrayInputStream(content))) {
                throw refused("the archive has more than " + MAX_ARRAYS + " entries", where);
            }
            readAll(content, where, arrays);
        } catch (IOException | IllegalArgumentException e) {
            throw refused("the archive cannot be read: " + e.getMessage(), where);
        }
        return arrays;
    }

    private static void readAll(byte[] content, String where, Map<String, NumpyArray> arrays) throws IOException {
        long budget = SampleReader.MAX_BYTES;
        try (ZipFile zip = ZipFile.builder().setByteArray(content).get()) {
            for (ZipArchiveEntry entry : Collections.list(zip.getEntries())) {
                String name = entry.getName();
                if (!name.endsWith(SUFFIX)) {
                    throw refused("the archive holds `" + name + "`, which is not an array .npy", where);
                }
                byte[] array = unpack(zip, entry, budget, where);
                budget -= array.length;
                arrays.put(
                        name.substring(0, name.length() - SUFFIX.length()),
                        NumpyArray.read(Bytes.wrap(array), where + ": " + name));
            }
        }
    }

    private static KilnException refused(String what, String where) {
        return Failure.QUANTIZE.exception(what, where, "a file .npz", "Write it with numpy.savez");
    }

    private static byte[] unpack(ZipFile zip, ZipArchiveEntry entry, long budget, String where) throws IOException {
        try (InputStream in = zip.getInputStream(entry)) {
            byte[] array = in.readNBytes((int) budget + 1);
            if (array.length > budget) {
                throw SampleReader.tooLarge(where);
            }
            return array;
        }
    }

    /**
     * An array of NumPy's format {@code .npy}, versions 1 to 3: a magic number, the length of a header, the header as a
     * Python dictionary {@code {'descr': '<f4', 'fortran_order': False, 'shape': (200, 49, 10, 1), }}, then the elements.
     *
     * @param shape its dimensions
     * @param code type of its elements, such as {@code <f4}
     * @param elements the elements as in the file
     */
    record NumpyArray(Shape shape, String code, ByteBuffer elements) {
        private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
        private static final int MAX_HEADER = 1 << 16;
        private static final int MAX_RANK = 9;
        private static final Pattern DESCR = Pattern.compile("'descr'\\s*:\\s*'([<>|=][a-zA-Z][0-9]{1,3})'");
        private static final Pattern ORDER = Pattern.compile("'fortran_order'\\s*:\\s*(True|False)");
        private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([0-9, ]{0,200})\\)");

        /**
         * Reads an array.
         *
         * @param where the file for messages
         * @throws KilnException if it is not such an array, or of a type that samples cannot have
         */
        static NumpyArray read(Bytes file, String where) {
            ByteBuffer buffer = file.buffer();
            for (byte magic : MAGIC) {
                if (!buffer.hasRemaining() || buffer.get() != magic) {
                    throw wrong("this is no .npy file", where);
                }
            }
            String header = header(buffer, where);
            String code = find(DESCR, header, where);
            if (find(ORDER, header, where).equals("True")) {
                throw wrong("the array is in Fortran's order", where);
            }
            Shape shape = shape(find(SHAPE, header, where), where);
            long bytes = shape.elements() * width(code, where);
            if (bytes != buffer.remaining()) {
                throw wrong(
                        "the array " + shape.text() + " of " + code + " needs " + bytes + " bytes, but "
                                + buffer.remaining() + " follow its header",
                        where);
            }
            return new NumpyArray(shape, code, buffer.slice().order(ByteOrder.LITTLE_ENDIAN));
        }

        private static String header(ByteBuffer buffer, String where) {
            if (buffer.remaining() < 6) {
                throw wrong("the file is truncated", where);
            }
            int version = buffer.get();
            buffer.get();
            int length = version == 1 ? buffer.getShort() & 0xFFFF : buffer.getInt();
            if (version < 1 || version > 3 || length < 0 || length > Math.min(MAX_HEADER, buffer.remaining())) {
                throw wrong("the header is corrupt or truncated", where);
            }
            byte[] text = new byte[length];
            buffer.get(text);
            return new String(text, StandardCharsets.UTF_8);
        }

        private static String find(Pattern pattern, String header, String where) {
            Matcher matcher = pattern.matcher(header);
            if (!matcher.find()) {
                throw wrong("the header has no valid entry " + pattern.pattern().substring(0, 8), where);
            }
            return matcher.group(1);
        }

        private static Shape shape(String text, String where) {
            List<Integer> dims = new ArrayList<>();
            double elements = 1;
            for (String dim : text.split(",", -1)) {
                if (!dim.isBlank()) {
                    if (dim.strip().length() > 9 || dims.size() == MAX_RANK) {
                        throw wrong("the shape (" + text + ") is not supported", where);
                    }
                    dims.add(Integer.valueOf(dim.strip()));
                    elements *= dims.get(dims.size() - 1);
                }
            }
            if (elements > SampleReader.MAX_BYTES) {
                throw SampleReader.tooLarge(where);
            }
            return new Shape(dims);
        }

        private static int width(String code, String where) {
            return switch (code) {
                case "|u1", "|i1", "|b1" -> 1;
                case "<i2" -> 2;
                case "<f4", "<i4" -> 4;
                case "<f8", "<i8" -> 8;
                default -> throw wrong("elements of type " + code + " are not supported", where);
            };
        }

        private static KilnException wrong(String what, String where) {
            return Failure.QUANTIZE.exception(
                    what,
                    where,
                    "a little-endian array in C order of float32, float64 or integers",
                    "Write it with numpy.save(file, numpy.ascontiguousarray(samples, dtype='<f4'))");
        }

        /**
         * Elements in the type of a model's input; float64 is rounded to float32.
         *
         * @throws KilnException if an integer input's elements are of another type
         */
        Bytes elements(int first, int count, DType dtype, String where) {
            ByteBuffer out = ByteBuffer.allocate(count * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
            if (!dtype.isFloat()) {
                requireType(dtype, where);
                out.put(elements.slice(first * dtype.bytes(), count * dtype.bytes()));
                return Bytes.wrap(out.array());
            }
            for (int i = first; i < first + count; i++) {
                out.putFloat(real(i));
            }
            return Bytes.wrap(out.array());
        }

        private void requireType(DType dtype, String where) {
            String wanted = switch (dtype) {
                case INT8 -> "|i1";
                case UINT8 -> "|u1";
                case BOOL -> "|b1";
                case INT16 -> "<i2";
                case INT32 -> "<i4";
                case INT64 -> "<i8";
                default -> "none";
            };
            if (!code.equals(wanted)) {
                throw Failure.QUANTIZE.exception(
                        "the array is of type " + code, where, wanted + " for an input of " + dtype.text(), "");
            }
        }

        private float real(int index) {
            return switch (code) {
                case "|u1", "|b1" -> elements.get(index) & 0xFF;
                case "|i1" -> elements.get(index);
                case "<i2" -> elements.getShort(2 * index);
                case "<i4" -> elements.getInt(4 * index);
                case "<i8" -> elements.getLong(8 * index);
                case "<f4" -> elements.getFloat(4 * index);
                default -> (float) elements.getDouble(8 * index);
            };
        }
    }
}
