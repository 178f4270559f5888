// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ConfigurationTest {
    private static final Space SPACE =
            Space.of("loops", Knob.of("block", 1, 2), Knob.unusual("weight_bits", 4), Knob.flag("padded", false, true));

    @Test
    void aSpaceIsAllCombinationsThatItsConditionAllows() {
        assertThat(SPACE.configurations().stream().map(Configuration::text))
                .containsExactly(
                        "loops(block=1)",
                        "loops(block=1, padded)",
                        "loops(block=1, weight_bits=4)",
                        "loops(block=1, weight_bits=4, padded)",
                        "loops(block=2)",
                        "loops(block=2, padded)",
                        "loops(block=2, weight_bits=4)",
                        "loops(block=2, weight_bits=4, padded)");
        assertThat(SPACE.where(c -> c.number("block") == 2)
                        .where(c -> c.isOn("padded"))
                        .configurations())
                .hasSize(2);
    }

    @Test
    void textsReadBack() {
        SPACE.configurations()
                .forEach(c -> assertThat(Configuration.parse(c.text())).isEqualTo(c));
        assertThat(Configuration.parse("small")).isEqualTo(Configuration.of("small"));
    }

    @Test
    void settingsAreReadByTheirKnob() {
        Configuration c = Configuration.of("loops")
                .with("block", 2)
                .withUnusual("pixels", 1, 1)
                .withFlag("padded", true);
        assertThat(c.text()).isEqualTo("loops(block=2, padded)");
        assertThat(c.number("block")).isEqualTo(2);
        assertThat(c.number("pixels", 1)).isEqualTo(1);
        assertThat(c.isOn("padded")).isTrue();
        assertThatThrownBy(() -> c.number("unroll")).hasMessage("loops(block=2, padded) does not set unroll");
    }

    @Test
    void whatIsNoConfigurationIsRefused() {
        for (String text :
                new String[] {"", "loops()", "loops(block=1", "loops(block=1,pixels=2)", "loops(a=b=c)", "Loops"}) {
            assertThatThrownBy(() -> Configuration.parse(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("no ");
        }
    }
}
