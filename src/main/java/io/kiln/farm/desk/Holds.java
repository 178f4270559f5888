// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.desk;

import io.kiln.base.KilnException;
import io.kiln.report.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Workers and boards that get no jobs, for maintenance or in quarantine; a file remembers them when the broker ends. */
final class Holds {
    private static final String FILE = "holds.json";
    private static final int MOST = 1000;

    private final Path file;
    private final List<Hold> holds = new ArrayList<>();
    private String trouble = "";

    private record Kept(List<Hold> holds) {}

    /** @param folder of the broker; a damaged file in it holds nobody */
    Holds(Path folder) {
        this.file = folder.resolve(FILE);
        if (Files.exists(file)) {
            try {
                holds.addAll(Json.read(file, Kept.class).holds());
            } catch (KilnException e) {
                holds.clear();
            }
        }
    }

    boolean isHeld(Taker taker) {
        return holds.stream()
                .anyMatch(hold ->
                        hold.unit().equals(taker.worker()) || hold.unit().equals(taker.unit()));
    }

    Optional<Hold> of(String unit) {
        return holds.stream().filter(hold -> hold.unit().equals(unit)).findFirst();
    }

    List<Hold> all() {
        return List.copyOf(holds);
    }

    /** Why the last change was not kept on the disk; empty if it was. */
    String trouble() {
        return trouble;
    }

    /** False if it is held already, or too many are. */
    boolean add(Hold hold) {
        if (of(hold.unit()).isPresent() || holds.size() >= MOST) {
            return false;
        }
        holds.add(hold);
        write();
        return true;
    }

    /** False if it was not held. */
    boolean remove(String unit) {
        boolean wasHeld = holds.removeIf(hold -> hold.unit().equals(unit));
        if (wasHeld) {
            write();
        }
        return wasHeld;
    }

    private void write() {
        holds.sort(Comparator.comparing(Hold::unit));
        try {
            Json.write(file, new Kept(List.copyOf(holds)));
            trouble = "";
        } catch (KilnException e) {
            // It counts all the same; a full disk must not keep the broker from its work.
            trouble = "not kept: " + e.getMessage();
        }
    }
}
