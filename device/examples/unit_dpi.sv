// The unit of unit.sv in the binary protocol, through DPI: 12 to 19 times faster than the lines of unit.sv in Verilator 5.006.
// binary.c reads the operands and writes the results.
//   $ verilator --binary -Wno-fatal --top-module dpi unit.sv unit_dpi.sv binary.c -o unit
//   $ ./mmadiff run --device='exec:obj_dir/unit,restart=never,protocol=binary' --instr=sm_70/mma.m8n8k4.f32.f16.f16.f32
module dpi;
  import "DPI-C" function int next_dot(int bytes);
  import "DPI-C" function longint unsigned next_word(int bytes);
  import "DPI-C" function void answer(longint unsigned d, int bytes);
  import "DPI-C" function void unknown();
  logic [3:0][15:0] a, b;
  logic [31:0] c, d;
  unit dut (.*);
  initial
    while (next_dot(20) != 0) begin
      for (int i = 0; i < 4; i++) a[i] = 16'(next_word(2));
      for (int i = 0; i < 4; i++) b[i] = 16'(next_word(2));
      c = 32'(next_word(4));
      #1 if ($isunknown(d)) unknown();
      answer(64'(d), 4);
    end
endmodule
