// SPDX-License-Identifier: Apache-2.0
package io.kiln.operators;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.Operators;
import io.kiln.ir.op.OperatorClasses;
import io.kiln.ir.op.Signature;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every place knows every operator, or {@code operators/waivers.txt} says why it does not; the documentation shows both. {@code
 * -Dkiln.operators.write=true} writes the page's section anew.
 */
class OperatorPlacesTest {
    private static final Path PAGE = Path.of("src/site/markdown/operators.md");

    private static Map<String, Set<Place>> filled;
    private static Waivers waivers;

    @BeforeAll
    static void ask() {
        filled = OperatorPlaces.all();
        try (InputStream text = OperatorPlacesTest.class.getResourceAsStream("/operators/waivers.txt")) {
            waivers = Waivers.of(new String(text.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Map.Entry<String, Place>> cells() {
        return filled.keySet().stream()
                .flatMap(operator -> Stream.of(Place.values()).map(place -> Map.entry(operator, place)));
    }

    private static boolean isFilled(Map.Entry<String, Place> cell) {
        return filled.getOrDefault(cell.getKey(), Set.of()).contains(cell.getValue());
    }

    @Test
    void everyPlaceKnowsEveryOperatorOrHasAReasonNotTo() {
        List<String> open = cells().filter(cell -> !isFilled(cell))
                .filter(cell -> waivers.number(cell.getKey(), cell.getValue()).isEmpty())
                .map(cell -> cell.getKey() + " in " + cell.getValue().text())
                .toList();
        assertThat(open)
                .as("add it there, or add the reason to operators/waivers.txt")
                .isEmpty();
    }

    @Test
    void everyDefinitionIsListed() {
        Set<Class<?>> listed = Operators.ALL.stream().map(Signature::type).collect(Collectors.toSet());
        assertThat(listed).as("add a line to Operators").isEqualTo(OperatorClasses.all());
    }

    @Test
    void everyReasonIsNeeded() {
        assertThat(waivers.repeated()).isEmpty();
        assertThat(waivers.cells().map(Map.Entry::getKey)).isSubsetOf(filled.keySet());
        List<String> needless = waivers.cells()
                .filter(OperatorPlacesTest::isFilled)
                .map(cell -> cell.getKey() + " in " + cell.getValue().text())
                .toList();
        assertThat(needless)
                .as("it is there, so operators/waivers.txt need not say why it is not")
                .isEmpty();
        for (int i = 1; i <= waivers.reasons().size(); i++) {
            int number = i;
            assertThat(waivers.cells())
                    .as(waivers.reasons().get(i - 1))
                    .anyMatch(cell -> waivers.number(cell.getKey(), cell.getValue())
                            .filter(n -> n == number)
                            .isPresent());
        }
    }

    @Test
    void thePageShowsThem() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(OperatorPage.HEADING);
        assertThat(begin).isNotNegative();
        String section = new OperatorPage(filled, waivers).text();
        if (Boolean.getBoolean("kiln.operators.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + section);
        }
        assertThat(page.substring(begin)).isEqualTo(section);
    }
}
