// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ZipEntries;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/** Arrays of NumPy's format {@code .npz}: a zip of {@code <name>.npy}. What an entry unpacks to is bounded. */
final class NumpyArchive {
    private static final String SUFFIX = ".npy";
    private static final int MAX_ARRAYS = 1000;

    private NumpyArchive() {}

    /**
     * The arrays by name, in the archive's order.
     *
     * @param where the file for messages
     * @throws KilnException if it is not such an archive, or unpacks to more than {@link SampleReader#MAX_BYTES}
     */
    static Map<String, NumpyArray> read(byte[] content, String where) {
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
