// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip.ZipEntries;
import io.kiln.base.Problems;
import io.kiln.ir.Parameter;
import io.kiln.ir.type.Shape;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
            throw new KilnException(Failure.QUANTIZE.problem(
                    "the model has " + inputs.size() + " inputs, a .npy file holds one array",
                    where,
                    "a .npz file with an array for each of " + names(inputs),
                    "Write it with numpy.savez(file, name=array, …)"));
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
        return new KilnException(Failure.QUANTIZE.problem(what, where, "a file .npz", "Write it with numpy.savez"));
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
}
