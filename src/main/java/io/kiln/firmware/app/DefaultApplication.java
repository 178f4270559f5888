// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.app;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.ResourceTree;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The application of an image whose project has no {@code main.c}: C files that use the board's {@code kiln_console.h}
 * and the models' {@code tvmgen_<name>.h}. Its protocol is described in {@code kiln_app.h}.
 */
public final class DefaultApplication {
    /** Largest number of models in one image. */
    public static final int MAX_MODELS = 255;

    private DefaultApplication() {}

    /**
     * All files of the application for these models.
     *
     * @param models 1 to {@link #MAX_MODELS}, in the order of the host's model numbers
     * @return sources and headers by file name
     */
    public static SortedMap<String, Bytes> files(List<ModelMetadata> models) {
        if (models.isEmpty() || models.size() > MAX_MODELS) {
            throw new KilnException(
                    new Problem("the application has " + models.size() + " models", "", "1 to " + MAX_MODELS, ""));
        }
        TreeMap<String, Bytes> files = new TreeMap<>(ResourceTree.read("templates/app"));
        files.put("kiln_app_models.c", Bytes.ofText(ModelTable.print(models)));
        return files;
    }
}
