// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.List;

/**
 * What is in an image, in {@code report.json}.
 *
 * @param sections that occupy memory, by address; one that the program copies at its start is there twice
 * @param largest functions and variables that take most, largest first
 * @param licences of the sources that were compiled
 */
public record ImageReport(List<Section> sections, List<Symbol> largest, List<Licence> licences) {
    public ImageReport {
        sections = List.copyOf(sections);
        largest = List.copyOf(largest);
        licences = List.copyOf(licences);
    }

    /**
     * A section.
     *
     * @param memory the board's name of the memory that it lies in; empty for this computer
     * @param address of its first byte
     * @param bytes its size
     */
    public record Section(String name, String memory, long address, long bytes) {}

    /**
     * A function or variable.
     *
     * @param isWritable whether it lies in RAM while the image runs
     */
    public record Symbol(String name, long bytes, boolean isWritable) {}

    /**
     * A licence of sources in a folder of the C project.
     *
     * @param part the folder, such as {@code crt}
     * @param licence its SPDX identifier; empty if the files state none
     * @param files how many files
     */
    public record Licence(String part, String licence, int files) {}
}
