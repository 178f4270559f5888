/* SPDX-License-Identifier: Apache-2.0
 *
 * Hears the words in recordings. On a device the samples come from a microphone: feed them as they come, and run the model when its rows are
 * filled.
 */
#include <tvmgen_words.h>
#include <tvmgen_words_preprocess.h>

#include "kiln_console.h"
#include "recordings.h"

static const char* const words[] = {"yes", "no", "up", "down"};

static struct tvmgen_words_preprocess state;
static int8_t features[TVMGEN_WORDS_FEATURES_SIZE];
static int8_t probabilities[TVMGEN_WORDS_PROBABILITIES_SIZE];

static const char* heard(const int16_t* samples) {
  struct tvmgen_words_inputs inputs = {.features = features};
  struct tvmgen_words_outputs outputs = {.probabilities = probabilities};
  tvmgen_words_preprocess_run(&state, samples, features);
  if (tvmgen_words_run(&inputs, &outputs) != 0) {
    return "nothing: the model failed";
  }
  uint32_t largest = 0;
  for (uint32_t word = 1; word < TVMGEN_WORDS_PROBABILITIES_SIZE; ++word) {
    if (probabilities[word] > probabilities[largest]) {
      largest = word;
    }
  }
  return words[largest];
}

int main(void) {
  for (uint32_t i = 0; i < sizeof recordings / sizeof recordings[0]; ++i) {
    kiln_console_text("heard: ");
    kiln_console_text(heard(recordings[i]));
    kiln_console_text("\r\n");
  }
  return 0;
}
