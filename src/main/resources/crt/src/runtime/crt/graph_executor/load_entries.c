/* SPDX-License-Identifier: Apache-2.0
 *
 * What a graph says of its entries, the outputs of its nodes.
 */
#include <string.h>
#include <tvm/runtime/crt/internal/graph_executor/load_graph.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/internal/graph_executor/small.h>

TVM_CRT_SMALL_BEGIN

static void read_shape(TVMGraphPass* pass, uint32_t entry) {
  JSONReader* reader = pass->reader;
  int64_t extent = 0;
  uint32_t first = pass->shape;
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->ReadInteger(reader, &extent) == 0) {
    TVMGraphPass_FailIf(pass, extent < 0, "a wrong extent");
    if (!pass->is_counting) {
      pass->executor->shapes[pass->shape] = extent;
    }
    ++pass->shape;
  }
  if (!pass->is_counting) {
    DLTensor* tensor = &pass->executor->data_entry[entry].dl_tensor;
    tensor->shape = pass->executor->shapes + first;
    tensor->ndim = (int32_t)(pass->shape - first);
  }
}

static void read_storage_id(TVMGraphPass* pass, uint32_t entry) {
  unsigned int id = 0;
  (void)pass->reader->ReadUnsignedInteger(pass->reader, &id);
  TVMGraphPass_FailIf(pass, id >= pass->entry, "a wrong storage_id");
  if (!pass->is_counting) {
    pass->executor->storage_id[entry] = id;
  }
}

static void read_type(TVMGraphPass* pass, uint32_t entry) {
  char type[TVM_CRT_MAX_STRLEN_DLTYPE];
  (void)pass->reader->ReadString(pass->reader, type, sizeof(type));
  DLDataType dtype = String2DLDataType(type);
  TVMGraphPass_FailIf(pass, dtype.bits == 0u, "a wrong dltype");
  if (!pass->is_counting) {
    pass->executor->data_entry[entry].dl_tensor.dtype = dtype;
  }
}

static void read_device(TVMGraphPass* pass, uint32_t entry) {
  unsigned int device = 0;
  (void)entry;
  (void)pass->reader->ReadUnsignedInteger(pass->reader, &device);
  TVMGraphPass_FailIf(pass, device != kDLCPU, "there is the CPU's memory only");
}

static void read_scope(TVMGraphPass* pass, uint32_t entry) {
  char scope[TVM_GRAPH_KEY_SIZE];
  (void)entry;
  (void)pass->reader->ReadString(pass->reader, scope, sizeof(scope));
  TVMGraphPass_FailIf(pass, strcmp(scope, "global") != 0, "there is the CPU's memory only");
}

/* What there can be of each entry: a list of the type of the items, then the items. */
static const struct {
  char key[16];
  void (*read)(TVMGraphPass* pass, uint32_t entry);
} entry_lists[] = {{"shape", read_shape},
                   {"storage_id", read_storage_id},
                   {"dltype", read_type},
                   {"device_index", read_device},
                   {"storage_scope", read_scope}};

/* The first three have to be there. */
#define NEEDED 7u

/* An attribute of the graph; one that is not known is passed over. */
static void read_attribute(TVMGraphPass* pass, const char* key, uint32_t* seen) {
  JSONReader* reader = pass->reader;
  const char* type;
  uint32_t list = 0;
  while (list < sizeof(entry_lists) / sizeof(entry_lists[0]) && strcmp(key, entry_lists[list].key) != 0) {
    ++list;
  }
  if (list == sizeof(entry_lists) / sizeof(entry_lists[0])) {
    JSONReader_Skip(reader);
    return;
  }
  uint32_t count = 0;
  uint32_t bit = 1u << list;
  TVMGraphPass_FailIf(pass, (*seen & bit) != 0u, "it is there twice");
  reader->BeginArray(reader);
  TVMGraphPass_FailIf(pass, !reader->NextArrayItem(reader), "[type, list] is expected");
  (void)JSONReader_ReadReference(reader, &type);
  TVMGraphPass_FailIf(pass, !reader->NextArrayItem(reader), "[type, list] is expected");
  reader->BeginArray(reader);
  while (reader->NextArrayItem(reader) && reader->error == NULL) {
    if (count == pass->entry) {
      JSONReader_Fail(reader, "one item for each output is expected");
      return;
    }
    entry_lists[list].read(pass, count);
    ++count;
  }
  TVMGraphPass_FailIf(pass, reader->NextArrayItem(reader), "[type, list] is expected");
  TVMGraphPass_FailIf(pass, count != pass->entry,
                      "one item for each output is expected");
  *seen |= bit;
}

void TVMGraphPass_ReadAttributes(TVMGraphPass* pass) {
  JSONReader* reader = pass->reader;
  char key[TVM_GRAPH_KEY_SIZE];
  uint32_t seen = 0;
  reader->BeginObject(reader);
  while (reader->NextObjectItem(reader, key, sizeof(key)) && reader->error == NULL) {
    read_attribute(pass, key, &seen);
  }
  TVMGraphPass_FailIf(pass, (seen & NEEDED) != NEEDED, "a part is missing");
}

TVM_CRT_SMALL_END
