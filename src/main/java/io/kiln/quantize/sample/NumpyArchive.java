// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
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
     * @throws KilnException if it is no such archive, or unpacks to more than {@link SampleReader#MAX_BYTES}
     */
    static Map<String, NumpyArray> read(Bytes content, String where) {
        Map<String, NumpyArray> arrays = new LinkedHashMap<>();
        long budget = SampleReader.MAX_BYTES;
        try (ZipFile zip = ZipFile.builder().setByteArray(content.toArray()).get()) {
            for (ZipArchiveEntry entry : Collections.list(zip.getEntries())) {
                String name = entry.getName();
                if (!name.endsWith(SUFFIX) || arrays.size() == MAX_ARRAYS) {
                    throw new KilnException(new Problem(
                            "the archive holds `" + name + "`",
                            where,
                            "at most " + MAX_ARRAYS + " arrays .npy",
                            "Write it with numpy.savez"));
                }
                byte[] array = unpack(zip, entry, budget, where);
                budget -= array.length;
                arrays.put(
                        name.substring(0, name.length() - SUFFIX.length()),
                        NumpyArray.read(Bytes.wrap(array), where + ": " + name));
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new KilnException(new Problem(
                    "the archive cannot be read: " + e.getMessage(),
                    where,
                    "a file .npz",
                    "Write it with numpy.savez"));
        }
        return arrays;
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
