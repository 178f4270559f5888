// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import io.kiln.base.WholeFiles;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.transform.Stage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes the IR after each pass as Relay text, {@code NN-<pass>.relay}; the number is the pass's place in the pipeline. */
final class IrDump {
    private IrDump() {}

    /** Writes a model's stages into a folder and says which files there are. */
    static List<Path> write(List<Stage> stages, Path folder) {
        List<Path> written = new ArrayList<>();
        for (Stage stage : stages) {
            Path file = folder.resolve(String.format(Locale.ROOT, "%02d-%s.relay", stage.index(), stage.pass()));
            WholeFiles.write(file, RelayPrinter.print(stage.function()));
            written.add(file);
        }
        return written;
    }
}
