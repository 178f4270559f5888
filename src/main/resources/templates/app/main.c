/* SPDX-License-Identifier: Apache-2.0
 *
 * The default application; kiln_app.h says what it does. Inputs are read straight into their place, so that no buffer holds them twice.
 */
#include "kiln_app.h"
#include "kiln_app_frame.h"
#include "kiln_console.h"

#include <stddef.h>

/* What handling a packet leads to, beside the KILN_FRAME_ values. */
#define HANDLED 0
#define LEAVE 1

static uint32_t input_bytes(const struct kiln_app_model* model) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < model->inputs; ++i) {
    bytes += model->sizes[i];
  }
  return bytes;
}

static uint32_t output_bytes(const struct kiln_app_model* model) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < model->outputs; ++i) {
    bytes += model->sizes[model->inputs + i];
  }
  return bytes;
}

static uint32_t length_of(const char* text) {
  uint32_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  return length;
}

static void reply(uint32_t request, uint32_t status, uint32_t length) {
  kiln_frame_begin(2u + length);
  kiln_frame_put((uint8_t)(request + 0x80u));
  kiln_frame_put((uint8_t)status);
}

static void reply_status(uint32_t request, uint32_t status) {
  reply(request, status, 0);
  kiln_frame_end();
}

static void reply_info(void) {
  uint32_t length = 2;
  for (uint32_t m = 0; m < kiln_app_model_count; ++m) {
    const struct kiln_app_model* model = &kiln_app_models[m];
    length += 3u + length_of(model->name) + 4u * ((uint32_t)model->inputs + model->outputs);
  }
  reply(KILN_APP_INFO, KILN_APP_OK, length);
  kiln_frame_put(KILN_APP_PROTOCOL);
  kiln_frame_put(kiln_app_model_count);
  for (uint32_t m = 0; m < kiln_app_model_count; ++m) {
    const struct kiln_app_model* model = &kiln_app_models[m];
    kiln_frame_put((uint8_t)length_of(model->name));
    for (const char* c = model->name; *c != '\0'; ++c) {
      kiln_frame_put((uint8_t)*c);
    }
    kiln_frame_put(model->inputs);
    kiln_frame_put(model->outputs);
    for (uint32_t i = 0; i < (uint32_t)model->inputs + model->outputs; ++i) {
      kiln_frame_put_u32(model->sizes[i]);
    }
  }
  kiln_frame_end();
}

static void run(const struct kiln_app_model* model) {
  int32_t result = model->run();
  if (result != 0) {
    reply(KILN_APP_RUN, KILN_APP_FAILED, 4);
    kiln_frame_put_u32((uint32_t)result);
    kiln_frame_end();
    return;
  }
  reply(KILN_APP_RUN, KILN_APP_OK, output_bytes(model));
  for (uint32_t i = model->inputs; i < (uint32_t)model->inputs + model->outputs; ++i) {
    const uint8_t* data = model->tensor(i);
    for (uint32_t k = 0; k < model->sizes[i]; ++k) {
      kiln_frame_put(data[k]);
    }
  }
  kiln_frame_end();
}

/* Reads and drops what is left of a packet that cannot be used, so that the next one is found. */
static int refuse(uint32_t request, uint32_t status, uint32_t left) {
  for (; left != 0u; --left) {
    int byte = kiln_frame_get();
    if (byte < 0) {
      return byte;
    }
  }
  int good = kiln_frame_check();
  if (good < 0) {
    return good;
  }
  reply_status(good != 0 ? request : KILN_APP_DAMAGED, good != 0 ? status : KILN_APP_BAD_FRAME);
  return HANDLED;
}

static int handle_run(uint32_t left) {
  if (left == 0u) {
    return refuse(KILN_APP_RUN, KILN_APP_BAD_LENGTH, left);
  }
  int index = kiln_frame_get();
  --left;
  if (index < 0) {
    return index;
  }
  if (index >= (int)kiln_app_model_count) {
    return refuse(KILN_APP_RUN, KILN_APP_BAD_MODEL, left);
  }
  const struct kiln_app_model* model = &kiln_app_models[index];
  if (left != input_bytes(model)) {
    return refuse(KILN_APP_RUN, KILN_APP_BAD_LENGTH, left);
  }
  for (uint32_t i = 0; i < model->inputs; ++i) {
    uint8_t* data = model->tensor(i);
    for (uint32_t k = 0; k < model->sizes[i]; ++k) {
      int byte = kiln_frame_get();
      if (byte < 0) {
        return byte;
      }
      if (model->take != NULL) {
        model->take(k, (uint8_t)byte);
      } else {
        data[k] = (uint8_t)byte;
      }
    }
  }
  int good = kiln_frame_check();
  if (good <= 0) {
    if (good == 0) {
      reply_status(KILN_APP_DAMAGED, KILN_APP_BAD_FRAME);
    }
    return good;
  }
  run(model);
  return HANDLED;
}

static int handle_bare(uint32_t request) {
  int good = kiln_frame_check();
  if (good < 0) {
    return good;
  }
  if (good == 0) {
    reply_status(KILN_APP_DAMAGED, KILN_APP_BAD_FRAME);
  } else if (request == KILN_APP_INFO) {
    reply_info();
  } else {
    reply_status(request, KILN_APP_OK);
    return LEAVE;
  }
  return HANDLED;
}

static int handle_packet(void) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < 4u; ++i) {
    int byte = kiln_frame_get();
    if (byte < 0) {
      return byte;
    }
    left |= (uint32_t)byte << (8u * i);
  }
  if (left == 0u) {
    return refuse(KILN_APP_DAMAGED, KILN_APP_BAD_LENGTH, left);
  }
  int request = kiln_frame_get();
  --left;
  if (request < 0) {
    return request;
  }
  switch ((uint32_t)request) {
    case KILN_APP_RUN:
      return handle_run(left);
    case KILN_APP_INFO:
    case KILN_APP_EXIT:
      return left == 0u ? handle_bare((uint32_t)request) : refuse((uint32_t)request, KILN_APP_BAD_LENGTH, left);
    default:
      return refuse((uint32_t)request & 0x7fu, KILN_APP_BAD_REQUEST, left);
  }
}

int main(void) {
  kiln_console_text("kiln: ready");
  for (uint32_t m = 0; m < kiln_app_model_count; ++m) {
    kiln_console_text(m == 0u ? ", " : " ");
    kiln_console_text(kiln_app_models[m].name);
  }
  kiln_console_text("\r\n");
  int outcome = HANDLED;
  while (outcome != LEAVE) {
    if (outcome != KILN_FRAME_STARTED && kiln_frame_find() < 0) {
      return 0;
    }
    kiln_frame_accept();
    outcome = handle_packet();
    if (outcome == KILN_FRAME_BROKEN) {
      reply_status(KILN_APP_DAMAGED, KILN_APP_BAD_FRAME);
    } else if (outcome == KILN_FRAME_ENDED) {
      return 0;
    }
  }
  return 0;
}
