// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.image.Measurement;
import io.kiln.report.listing.InspectReport.NpuPart;
import java.nio.file.Path;
import java.util.List;

/** An inspected file, before it is formatted for people or for programs. */
sealed interface Inspected {
    Path file();

    /**
     * A model.
     *
     * @param stateBytes variables that it keeps between runs
     * @param drawing the page of its graph
     */
    record OfModel(Path file, ModelMetadata model, long stateBytes, Path drawing, List<NpuPart> npuParts)
            implements Inspected {
        public OfModel {
            npuParts = List.copyOf(npuParts);
        }
    }

    record OfArchive(Path file) implements Inspected {}

    /** An image, measured for a board. */
    record OfImage(Path file, String board, Measurement measured) implements Inspected {}

    /**
     * A shared library with modules.
     *
     * @param folder where files of the modules are written for people
     */
    record OfLibrary(Path file, ElfFile elf, Path folder) implements Inspected {}

    /** Another file, with an artifact inspector's description of it. */
    record OfText(Path file, List<String> lines) implements Inspected {
        public OfText {
            lines = List.copyOf(lines);
        }
    }
}
