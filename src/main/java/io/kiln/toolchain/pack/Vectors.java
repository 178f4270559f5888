// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.toolchain.pack.Packs.Pack;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The handlers of a device's interrupts, by number. The vendor's header of the device knows them best, then its start-up code; the
 * description of the peripherals may miss some, and calls others otherwise.
 *
 * @param handlers names of functions by the interrupts' numbers, the first one counts
 * @param source file of the pack that they come from
 */
record Vectors(SortedMap<Integer, List<String>> handlers, String source) {
    private static final String SUFFIX = "_IRQHandler";
    private static final int CORE_VECTORS = 16;
    private static final int MOST_NAME = 100;

    /** Headers of large devices have megabytes of registers behind the interrupts. */
    private static final int MOST_READ = 1 << 18;

    private static final Pattern ENUMERATOR =
            Pattern.compile("\\b([A-Za-z_][A-Za-z0-9_]{0,80})_IRQn\\s*=\\s*([0-9]{1,3})\\b");
    private static final Pattern TABLE = Pattern.compile("^\\s*(g_pfnVectors|__isr_vector|__Vectors)\\b");
    private static final Pattern VECTOR = Pattern.compile("^\\s*(?:\\.word|\\.long|DCD)\\s+([A-Za-z_0-9]+)");
    private static final Pattern BLANK = Pattern.compile("^\\s*([;@/#*].*)?$");

    /**
     * The vectors of a core; empty if the pack, as far as it is there, tells none.
     *
     * @throws io.kiln.base.KilnException naming the line, if the description of the peripherals is broken
     */
    static Optional<Vectors> of(Pack pack, Device device, String core) {
        return candidates(pack, device)
                .map(name -> read(pack, name))
                .filter(vectors -> !vectors.handlers.isEmpty())
                .findFirst()
                .or(() -> device.svdOf(core).flatMap(path -> ofSvd(pack, path)));
    }

    /** Files that may have the vectors of this very device: those that it names, and those that are named after it. */
    private static Stream<String> candidates(Pack pack, Device device) {
        Set<String> names = new HashSet<>();
        names.add(device.name().toLowerCase(Locale.ROOT));
        device.papers().defines().forEach(each -> names.add(each.text().toLowerCase(Locale.ROOT)));
        List<String> all = pack.files().names(path -> {
            String file = path.substring(path.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
            return names.stream()
                    .anyMatch(name -> file.equals(name + ".h")
                            || file.equals("startup_" + name + ".s")
                            || file.equals("startup_" + name + ".c"));
        });
        return Stream.of(
                        device.papers().headers().stream(),
                        all.stream().filter(path -> path.endsWith(".h")),
                        all.stream().filter(path -> !path.endsWith(".h")))
                .flatMap(each -> each)
                .distinct();
    }

    private static Vectors read(Pack pack, String path) {
        String text = pack.files()
                .read(path)
                .map(content ->
                        content.part(0, Math.min(MOST_READ, content.size())).text())
                .orElse("");
        return new Vectors(path.endsWith(".h") ? ofEnumeration(text) : ofTable(text), path);
    }

    private static Optional<Vectors> ofSvd(Pack pack, String path) {
        return pack.files().read(path).map(content -> {
            SortedMap<Integer, List<String>> handlers = new TreeMap<>();
            SvdReader.interrupts(path, content)
                    .forEach((number, names) -> handlers.put(
                            number,
                            names.stream().map(Vectors::handler).distinct().toList()));
            return new Vectors(handlers, path);
        });
    }

    /** Interrupts of the core have negative numbers, which do not match. */
    static SortedMap<Integer, List<String>> ofEnumeration(String header) {
        SortedMap<Integer, List<String>> handlers = new TreeMap<>();
        Matcher enumerator = ENUMERATOR.matcher(header);
        while (enumerator.find()) {
            int number = Integer.parseInt(enumerator.group(2));
            if (number < SvdReader.MOST_INTERRUPTS) {
                List<String> names = handlers.computeIfAbsent(number, any -> new ArrayList<>());
                names.add(enumerator.group(1) + SUFFIX);
            }
        }
        return handlers;
    }

    /** The table of vectors in assembly for GNU's or Arm's assembler. */
    static SortedMap<Integer, List<String>> ofTable(String source) {
        SortedMap<Integer, List<String>> handlers = new TreeMap<>();
        boolean isInTable = false;
        int vector = 0;
        for (String line : source.lines().toList()) {
            Matcher entry = VECTOR.matcher(TABLE.matcher(line).replaceFirst(" "));
            if (!isInTable && !TABLE.matcher(line).find()) {
                continue;
            }
            if (entry.find()) {
                isInTable = true;
                String name = entry.group(1);
                int number = vector++ - CORE_VECTORS;
                boolean isHandler =
                        name.matches("[A-Za-z_].*") && name.length() <= MOST_NAME && name.contains("Handler");
                if (number >= 0 && number < SvdReader.MOST_INTERRUPTS && isHandler) {
                    handlers.put(number, List.of(name));
                }
            } else if (isInTable && vector > 0 && !BLANK.matcher(line).matches()) {
                return handlers;
            } else {
                isInTable = true;
            }
        }
        return handlers;
    }

    /** The handler of an interrupt, as the vendors' start-up code calls it. */
    static String handler(String interrupt) {
        String name = interrupt.replaceAll("[^A-Za-z0-9_]", "_");
        String plain = name.matches("[A-Za-z_].*") ? name : "_" + name;
        String cut = plain.substring(0, Math.min(plain.length(), MOST_NAME - SUFFIX.length()));
        if (cut.endsWith("Handler")) {
            return cut;
        }
        return cut.endsWith("_IRQ") ? cut + "_Handler" : cut + SUFFIX;
    }

    /** Lines for a board's {@code interrupts.txt}, in which each handler has one number. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        int last = handlers.isEmpty() ? -1 : handlers.lastKey();
        for (int number = 0; number <= last; number++) {
            List<String> names = handlers.getOrDefault(number, List.of());
            Optional<String> first = names.stream().filter(taken::add).findFirst();
            names.stream()
                    .filter(name -> first.filter(name::equals).isEmpty())
                    .forEach(name -> lines.add("# The next one is also called " + name + "."));
            lines.add(first.orElse("-"));
        }
        return lines;
    }

    /**
     * Reads the interrupts of a System View Description. Registers, which are nearly all of it, are passed over. Peripherals that are derived
     * from others name their own interrupts.
     */
    static final class SvdReader implements SafeXml.Visitor {
        /** Armv7-M Architecture Reference Manual, B3.4. */
        static final int MOST_INTERRUPTS = 496;

        private final String file;
        private final SortedMap<Integer, Set<String>> interrupts = new TreeMap<>();
        private boolean isOfDevice;
        private boolean isInInterrupt;
        private String name = "";
        private String value = "";

        private SvdReader(String file) {
            this.file = file;
        }

        /**
         * The names of each interrupt by its number, each name once, in the order of the file.
         *
         * @param file its name, for messages
         * @throws KilnException naming the line, if it is no such description, or if an interrupt has no name or number
         */
        static SortedMap<Integer, Set<String>> interrupts(String file, Bytes content) {
            SvdReader reader = new SvdReader(file);
            SafeXml.read(file, content, reader);
            return reader.interrupts;
        }

        @Override
        public void begin(String element, Map<String, String> attributes, int line) {
            if (!isOfDevice && !element.equals("device")) {
                throw refused("the file begins with the element " + element, line, "device, as a CMSIS-SVD file");
            }
            isOfDevice = true;
            if (element.equals("interrupt")) {
                isInInterrupt = true;
                name = "";
                value = "";
            }
        }

        @Override
        public void end(String element, String text, int line) {
            if (!isInInterrupt) {
                return;
            }
            switch (element) {
                case "name" -> name = text;
                case "value" -> value = text;
                case "interrupt" -> {
                    isInInterrupt = false;
                    if (name.isEmpty()) {
                        throw refused("an interrupt has no name", line, "an element name in it");
                    }
                    interrupts
                            .computeIfAbsent(number(line), any -> new LinkedHashSet<>())
                            .add(name);
                }
                default -> {}
            }
        }

        /** CMSIS-SVD, scaledNonNegativeInteger. */
        private int number(int line) {
            String digits = value.startsWith("+") ? value.substring(1) : value;
            int radix = 10;
            if (digits.startsWith("#")) {
                radix = 2;
                digits = digits.substring(1);
            } else if (digits.length() > 2 && digits.charAt(0) == '0' && !Character.isDigit(digits.charAt(1))) {
                radix = Character.toLowerCase(digits.charAt(1)) == 'b' ? 2 : 16;
                digits = digits.substring(2);
            }
            if (digits.matches("[0-9a-fA-F]{1,10}")) {
                try {
                    int number = Integer.parseInt(digits, radix);
                    if (number < MOST_INTERRUPTS) {
                        return number;
                    }
                } catch (NumberFormatException e) {
                    // The message below tells what is wrong.
                }
            }
            throw refused(
                    "the interrupt " + name + (value.isEmpty() ? " has no number" : " has the number " + value),
                    line,
                    "0 to " + (MOST_INTERRUPTS - 1));
        }

        private KilnException refused(String what, int line, String expected) {
            return Failure.BOARD.exception(what, file + ":" + line, expected);
        }
    }
}
