// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import java.util.Locale;

/** What the log says about a compiled model. */
final class LibrarySummary {
    private LibrarySummary() {}

    static String of(ModelLibrary library) {
        ModelMetadata model = library.metadata();
        if (library.isForeign()) {
            return String.format(
                    Locale.ROOT,
                    "Model %s, made for %s: %d operators, %,d bytes of constants, %,d of workspace",
                    model.name(),
                    model.target(),
                    model.operators().size(),
                    model.constantBytes(),
                    model.workspaceBytes());
        }
        long macs = model.operators().stream().mapToLong(OperatorInfo::macs).sum();
        return String.format(
                Locale.ROOT,
                "Model %s: %d operators, %,d MACs, %,d bytes of constants, %,d of workspace (lower bound %,d)",
                model.name(),
                model.operators().size(),
                macs,
                model.constantBytes(),
                model.workspaceBytes(),
                model.plan().lowerBound());
    }
}
