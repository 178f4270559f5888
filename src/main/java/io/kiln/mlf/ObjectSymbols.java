// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.elf.ElfFile;
import java.util.List;

/**
 * The global symbols that an ELF object defines. A file that is not an ELF object, or is damaged, defines nothing: the linker says what
 * is wrong with it.
 */
final class ObjectSymbols {
    private ObjectSymbols() {}

    /**
     * Which of some symbols an object defines.
     *
     * @param wanted their names
     */
    static List<String> defined(Bytes object, List<String> wanted) {
        try {
            return ElfFile.read(object, "object").symbols().stream()
                    .filter(ElfFile.Symbol::isExported)
                    .map(ElfFile.Symbol::name)
                    .filter(wanted::contains)
                    .distinct()
                    .toList();
        } catch (KilnException e) {
            return List.of();
        }
    }
}
